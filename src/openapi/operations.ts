/** Every route of the gate with its possible answers: the table from which the OpenAPI document is generated. */

import type { ProblemCode } from '../http/problem.js';
import { REFUSAL_CODES, type Role } from '../model/admission.js';

export interface Operation {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  /** Null: public. */
  readonly role: Role | null;
  readonly parameters?: readonly object[];
  /** Name of the body's schema. */
  readonly body?: string;
  readonly answers: readonly OperationAnswer[];
  /** Besides `forbidden`, `internal` and, where a role is needed, `unauthenticated`. */
  readonly problems: readonly ProblemCode[];
}

export interface OperationAnswer {
  readonly status: number;
  readonly says: string;
  /** Name of a schema, or an inline one; none for an answer without a body. */
  readonly schema?: string | Readonly<Record<string, unknown>>;
  readonly media?: string;
  readonly headers?: readonly string[];
}

const RUN_ID = { name: 'run_id', in: 'path', required: true, schema: { type: 'string' } };
const UUID = { name: 'uuid', in: 'path', required: true, schema: { type: 'string' }, description: 'As in GET /cards.' };
const DRY_RUN = {
  name: 'dry_run',
  in: 'query',
  required: false,
  schema: { enum: ['true'] },
  description: 'Takes no lock, pulls and changes nothing, and is not counted.',
};
const LOST = {
  name: 'lost',
  in: 'query',
  required: false,
  schema: { enum: ['true'] },
  description:
    'Removes a run of the process runtime that was started in another pid namespace, so that its state is unknown. ' +
    'Frees its cards and stops nothing. Needs the role operate instead; run_alive for any other run.',
};
const BODY_PROBLEMS = [
  'invalid_request',
  'unsupported_media_type',
  'too_large',
  'request_timeout',
  'headers_too_large',
] as const;

export const OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/admit',
    id: 'admit',
    summary: 'Starts a container on the requested number of cards, or answers wait.',
    role: 'admit',
    parameters: [DRY_RUN],
    body: 'AdmitRequest',
    answers: [
      {
        status: 200,
        says: 'It runs already, has ended, must wait, or this was a dry run.',
        schema: 'AdmitOk',
        headers: ['Retry-After'],
      },
      { status: 201, says: 'Started.', schema: 'Admitted', headers: ['Location'] },
      { status: 202, says: 'Created; its start is still going on.', schema: 'Starting', headers: ['Location'] },
    ],
    problems: [...REFUSAL_CODES, 'request_timeout', 'headers_too_large'],
  },
  {
    method: 'get',
    path: '/runs',
    id: 'listRuns',
    summary: 'The jobs on this machine, as the runtime lists them.',
    role: 'read',
    answers: [{ status: 200, says: 'All of them.', schema: 'Runs' }],
    problems: ['docker_unavailable'],
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
    parameters: [RUN_ID, LOST],
    answers: [{ status: 204, says: 'It had ended, or was lost, and is removed.' }],
    problems: ['invalid_request', 'not_found', 'run_alive', 'container_refused', 'docker_unavailable'],
  },
  {
    method: 'get',
    path: '/cards',
    id: 'listCards',
    summary: 'Every card with its state and everything found about it.',
    role: 'read',
    answers: [{ status: 200, says: 'One look. Parts that could not be seen are marked.', schema: 'Cards' }],
    problems: [],
  },
  {
    method: 'post',
    path: '/cards/{uuid}/exclude',
    id: 'excludeCard',
    summary: 'Takes a card out; a job that runs on it stays.',
    role: 'operate',
    parameters: [UUID],
    body: 'ExcludeRequest',
    answers: [
      { status: 200, says: 'The card as a new look sees it.', schema: 'Card' },
      { status: 204, says: 'Done; the card is not visible now.' },
    ],
    problems: [...BODY_PROBLEMS, 'not_found'],
  },
  {
    method: 'post',
    path: '/cards/{uuid}/include',
    id: 'includeCard',
    summary: 'Takes a card back that an operator had taken out. The card shows whether something else keeps it out.',
    role: 'operate',
    parameters: [UUID],
    answers: [
      { status: 200, says: 'The card as a new look sees it.', schema: 'Card' },
      { status: 204, says: 'Done; the card is not visible now.' },
    ],
    problems: ['invalid_request', 'not_found'],
  },
  {
    method: 'post',
    path: '/cards/{uuid}/forget',
    id: 'forgetCard',
    summary: 'Forgets a card that was taken out of the machine.',
    role: 'operate',
    parameters: [UUID],
    answers: [{ status: 204, says: 'Forgotten.' }],
    problems: ['invalid_request', 'not_found', 'card_present'],
  },
  {
    method: 'get',
    path: '/openapi.json',
    id: 'getOpenApi',
    summary: 'This document.',
    role: 'read',
    answers: [{ status: 200, says: 'OpenAPI 3.1.', schema: { type: 'object' } }],
    problems: [],
  },
  {
    method: 'get',
    path: '/',
    id: 'getPage',
    summary: 'The page for a browser. It holds no data: what it shows is in /status.json.',
    role: null,
    answers: [{ status: 200, says: 'The page.', schema: { type: 'string' }, media: 'text/html' }],
    problems: [],
  },
  {
    method: 'get',
    path: '/page/{file}',
    id: 'getPageFile',
    summary: 'Script and styles of the page.',
    role: null,
    parameters: [{ name: 'file', in: 'path', required: true, schema: { type: 'string' } }],
    answers: [{ status: 200, says: 'The file.' }],
    problems: ['not_found'],
  },
  {
    method: 'get',
    path: '/status.json',
    id: 'getStatus',
    summary: 'All that the page shows: cards, probes, lock and the last decisions.',
    role: 'read',
    answers: [{ status: 200, says: 'One look, and the condition of the gate.', schema: 'Status' }],
    problems: [],
  },
  {
    method: 'get',
    path: '/README.md',
    id: 'getReadme',
    summary: 'How the gate is deployed and used.',
    role: null,
    answers: [{ status: 200, says: 'Markdown.', schema: { type: 'string' }, media: 'text/plain' }],
    problems: ['not_found'],
  },
  {
    method: 'get',
    path: '/metrics',
    id: 'getMetrics',
    summary: 'For Prometheus.',
    role: null,
    answers: [{ status: 200, says: 'The text format, 0.0.4.', schema: { type: 'string' }, media: 'text/plain' }],
    problems: [],
  },
  {
    method: 'get',
    path: '/healthz',
    id: 'getHealth',
    summary: 'Whether the process answers.',
    role: null,
    answers: [{ status: 200, says: 'It does.', schema: { type: 'object', properties: { ok: { const: true } } } }],
    problems: [],
  },
  {
    method: 'get',
    path: '/readyz',
    id: 'getReadiness',
    summary: 'Whether an admission could be decided now.',
    role: null,
    answers: [
      { status: 200, says: 'It could.', schema: 'Readiness' },
      { status: 503, says: 'It could not; each part says why.', schema: 'Readiness' },
    ],
    problems: [],
  },
];
