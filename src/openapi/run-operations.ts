/** The routes of runs, as rows of the table. */

import { ROLES, type Role } from '../model/admission.js';
import { MOST_LINES, MOST_RUNS, RUN_STATES } from '../runs/query.js';
import { BODY_PROBLEMS, type Operation } from './operation.js';

const RUN_ID = { name: 'run_id', in: 'path', required: true, schema: { type: 'string' } };
const LOST = {
  name: 'lost',
  in: 'query',
  required: false,
  schema: { enum: ['true'] },
  description:
    'Removes a run of the process runtime that was started in another pid namespace, so that its state is unknown. ' +
    'Frees its cards and stops nothing. Needs the role operate instead; run_alive for any other run.',
};

const WAITING = {
  name: 'waiting',
  in: 'query',
  required: false,
  schema: { enum: ['true'] },
  description: 'Only takes a run out of the line; run_alive or run_ended for one that has a container.',
};

function queryOf(name: string, schema: object, description: string): object {
  return { name, in: 'query', required: false, schema, description };
}

const OWN = (role: Role): string => `Needs the role ${role} for a run that the caller started, or operate for any run.`;

export const RUN_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/runs',
    id: 'listRuns',
    summary: 'The jobs on this machine, as the runtime lists them, the newest first.',
    role: 'read',
    parameters: [
      queryOf('state', { enum: RUN_STATES }, 'Only those in this state.'),
      queryOf('principal', { type: 'string' }, 'Only those that this caller started.'),
      queryOf('limit', { type: 'integer', minimum: 1, maximum: MOST_RUNS }, 'Only so many.'),
    ],
    answers: [{ status: 200, says: 'All of them that are wanted.', schema: 'Runs' }],
    problems: ['invalid_request', 'docker_unavailable'],
  },
  {
    method: 'get',
    path: '/runs/{run_id}',
    id: 'getRun',
    summary: 'One job. A start that failed after a 202 stays readable as start_failed for an hour.',
    role: 'read',
    parameters: [RUN_ID],
    answers: [{ status: 200, says: 'The job.', schema: 'Run' }],
    problems: ['not_found', 'docker_unavailable'],
  },
  {
    method: 'delete',
    path: '/runs/{run_id}',
    id: 'removeRun',
    summary: 'Removes a job that has ended. A live one is never touched.',
    role: 'release',
    alsoPass: ['operate'],
    needs: OWN('release'),
    parameters: [RUN_ID, LOST, WAITING],
    answers: [{ status: 204, says: 'It had ended, was lost or waited in line, and is removed.' }],
    problems: ['invalid_request', 'not_found', 'run_alive', 'run_ended', 'container_refused', 'docker_unavailable'],
  },
  {
    method: 'post',
    path: '/runs/{run_id}/stop',
    id: 'stopRun',
    summary: 'Tells a job to end, and kills it after its grace. What waits for cards leaves the line.',
    role: 'admit',
    alsoPass: ['operate'],
    needs: OWN('admit'),
    parameters: [RUN_ID],
    body: 'StopRequest',
    answers: [
      { status: 200, says: 'It had ended already; nothing was done.', schema: 'Run' },
      { status: 202, says: 'It was told to end; GET shows its end.', schema: 'Run' },
      { status: 204, says: 'It had not begun, and is removed.' },
    ],
    problems: [
      ...BODY_PROBLEMS,
      'not_found',
      'run_alive',
      'start_pending',
      'stop_failed',
      'container_refused',
      'docker_unavailable',
    ],
  },
  {
    method: 'get',
    path: '/runs/{run_id}/logs',
    id: 'getRunLogs',
    summary: 'What a job printed, both streams in one, sent as fast as it is read.',
    role: 'read',
    alsoPass: ROLES,
    needs: 'Needs a token of whoever started the run, whatever its roles, or the role operate.',
    parameters: [
      RUN_ID,
      queryOf('follow', { enum: ['true', 'false'] }, 'Goes on until the job has ended.'),
      queryOf('tail', { type: 'string' }, `Only the last so many lines, up to ${MOST_LINES}; all without it.`),
      queryOf(
        'stderr',
        { enum: ['true', 'false'] },
        'False leaves standard error out, which the process runtime cannot.',
      ),
    ],
    answers: [{ status: 200, says: 'The output as it comes.', schema: { type: 'string' }, media: 'text/plain' }],
    problems: ['invalid_request', 'not_found', 'docker_unavailable'],
  },
];
