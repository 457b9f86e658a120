/** `GET /runs/{run_id}/logs`: the output as it comes. Nothing is read from the runtime that the reader has not taken. */

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { principalOf } from '../http/auth.js';
import { sendProblem } from '../http/problem.js';
import type { Runs } from '../model/ports/admissions.js';
import { couldBeARun, notYours, unknownRun } from './answers.js';
import { readOutputWanted } from './query.js';

export async function showOutput(
  { runs, ending }: { readonly runs: Runs; readonly ending?: AbortSignal },
  req: Request,
  res: Response,
): Promise<void> {
  const runId = String(req.params['run_id']);
  const wanted = readOutputWanted(req.query);
  if ('code' in wanted) return sendProblem(res, wanted);
  if (!couldBeARun(runId)) return sendProblem(res, unknownRun(runId));
  const over = new AbortController();
  res.once('close', () => over.abort());
  const signal = ending === undefined ? over.signal : AbortSignal.any([over.signal, ending]);
  const output = await runs.output(runId, wanted, principalOf(res), signal);
  if (output === 'unknown') return sendProblem(res, unknownRun(runId));
  if (output === 'forbidden') return sendProblem(res, notYours(runId, res));
  if (output.kind === 'refused') return sendProblem(res, output);
  if (res.destroyed) return over.abort();
  res.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' });
  // At once: a job may print nothing for long.
  res.flushHeaders();
  if (req.method === 'HEAD') {
    over.abort();
    return void res.end();
  }
  // Where it breaks off, the connection does: whoever reads must not take a part for the whole.
  await pipeline(Readable.from(output.stream, { objectMode: false }), res).catch(() => res.destroy());
}
