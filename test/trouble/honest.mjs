/**
 * Somebody who behaves: node honest.mjs URL…. Asks each `/healthz` again and again, over new connections and over a kept one. Says
 * "asking" when each has answered or refused once, and when it is told to end, how all of it went.
 */
import { Agent, request } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Longer than any answer may take, so that one that never comes is noticed. */
const LONGEST_MS = 60_000;
const PAUSE_MS = 50;

/** @type {Record<string, { answered: number, refused: string[], tookMs: number[] }>} */
const told = {};
const lag = monitorEventLoopDelay({ resolution: 10 });
lag.enable();
let ending = false;
process.once('SIGTERM', () => (ending = true));

/**
 * @param {string} url
 * @param {Agent | false} agent
 * @returns {Promise<string | null>} why there was no good answer
 */
function ask(url, agent) {
  return new Promise((resolve) => {
    const sent = request(new URL('/healthz', url), { agent, timeout: LONGEST_MS }, (response) => {
      response.resume();
      response.once('error', (error) => resolve(error.message));
      response.once('end', () => resolve(response.statusCode === 200 ? null : `status ${response.statusCode}`));
    });
    sent.once('timeout', () => sent.destroy(new Error('no answer')));
    sent.once('error', (error) => resolve(error.message));
    sent.end();
  });
}

/**
 * @param {string} name
 * @param {string} url
 * @param {Agent | false} agent
 */
async function goOn(name, url, agent) {
  const mine = (told[name] = {
    answered: 0,
    refused: /** @type {string[]} */ ([]),
    tookMs: /** @type {number[]} */ ([]),
  });
  while (!ending) {
    const began = performance.now();
    const refusal = await ask(url, agent);
    if (refusal === null) {
      mine.answered += 1;
      mine.tookMs.push(performance.now() - began);
    } else mine.refused.push(refusal);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

const asking = process.argv
  .slice(2)
  .flatMap((url) => [
    goOn(`${url}, new connections`, url, false),
    goOn(`${url}, a kept connection`, url, new Agent({ keepAlive: true, maxSockets: 1 })),
  ]);
const looking = setInterval(() => {
  if (Object.values(told).some(({ answered, refused }) => answered + refused.length === 0)) return;
  clearInterval(looking);
  console.log('asking');
}, 20);
await Promise.all(asking);
lag.disable();
console.log(JSON.stringify({ told, ownLagMs: lag.max / 1e6 }));
process.exit(0);
