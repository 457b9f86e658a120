/** The contract, OpenAPI 3.1, generated from the validators themselves so that it cannot contradict them. */

import { z } from 'zod';
import { okAnswer, runShape, runsShape, admittedAnswer, startingAnswer } from '../admit/answer-shape.js';
import { admitRequest, processAdmitRequest } from '../admit/request-schema.js';
import { cardShape, cardsShape, excludeRequest } from '../cards/card-shape.js';
import { PROBLEMS, type ProblemCode } from '../http/problem.js';
import type { RuntimeKind } from '../model/runtime-kind.js';
import { statusShape } from '../page/status-shape.js';
import { stopRequest } from '../runs/stop-route.js';
import type { Operation } from './operation.js';
import { OPERATIONS } from './operations.js';

type Json = Readonly<Record<string, unknown>>;

const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  AdmitOk: okAnswer,
  Admitted: admittedAnswer,
  Starting: startingAnswer,
  Run: runShape,
  Runs: runsShape,
  Card: cardShape,
  Cards: cardsShape,
  ExcludeRequest: excludeRequest,
  StopRequest: stopRequest,
  Status: statusShape,
};

/** The whole document. `version` is that of the package; the runtime decides which fields a request has. */
export function createOpenApi(version: string, runtime: RuntimeKind = 'docker'): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATIONS) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationObject(operation) };
  }
  const schemas = Object.entries({ AdmitRequest: requestOf(runtime), ...SCHEMAS }).map(([name, shape]) => [
    name,
    schemaOf(shape),
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'tuneplane-gpu-gate',
      version,
      description:
        'Decides which job gets which card of one machine. Errors are application/problem+json with a stable code. ' +
        'Where the gate has a tokens file, everything requires a bearer token but /metrics, /healthz, /readyz and the files of the ' +
        'page, which hold no data.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      schemas: { ...Object.fromEntries(schemas), Problem: PROBLEM, Readiness: READINESS },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function requestOf(runtime: RuntimeKind): z.ZodType {
  switch (runtime) {
    case 'docker':
      return admitRequest;
    case 'process':
      return processAdmitRequest;
    default:
      return runtime satisfies never;
  }
}

function operationObject(operation: Operation): Json {
  const { role, needs, id, summary, body, parameters = [] } = operation;
  return {
    operationId: id,
    summary: role === null ? summary : `${summary} ${needs ?? `Needs the role ${role}.`}`,
    // The empty one stands for a gate without a tokens file.
    ...(role === null ? {} : { security: [{ token: [] }, {}] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: reference(body) } } } }),
    responses: { ...answers(operation), ...problems(operation) },
  };
}

function answers({ answers: list }: Operation): Json {
  return Object.fromEntries(
    list.map(({ status, says, schema, media = 'application/json', headers }) => [
      status,
      {
        description: says,
        ...(headers === undefined ? {} : { headers: headersOf(headers) }),
        ...(schema === undefined ? {} : { content: { [media]: { schema: schemaFor(schema) } } }),
      },
    ]),
  );
}

/** One response per status, with the codes that it can carry. */
function problems({ role, problems: own, answers: good }: Operation): Json {
  const codes: readonly ProblemCode[] = [
    ...own,
    'forbidden',
    'internal',
    ...(role === null ? [] : ['unauthenticated' as const]),
  ];
  const statuses = [...new Set(codes.map((code) => PROBLEMS[code].status))].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses
      .filter((status) => !good.some((answer) => answer.status === status))
      .map((status) => {
        const here = [...new Set(codes)].filter((code) => PROBLEMS[code].status === status);
        return [
          status,
          {
            description: here.map((code) => `${code}: ${PROBLEMS[code].title}.`).join(' '),
            ...(status === 503 ? { headers: headersOf(['Retry-After']) } : {}),
            content: { 'application/problem+json': { schema: problemSchema(here) } },
          },
        ];
      }),
  );
}

function problemSchema(codes: readonly ProblemCode[]): Json {
  return { allOf: [reference('Problem'), { properties: { code: { enum: codes } } }] };
}

function headersOf(names: readonly string[]): Json {
  return Object.fromEntries(
    names.map((name) => [
      name,
      { schema: name === 'Retry-After' ? { type: 'integer', minimum: 1 } : { type: 'string' } },
    ]),
  );
}

function schemaFor(schema: string | Json): Json {
  return typeof schema === 'string' ? reference(schema) : schema;
}

function reference(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

function schemaOf(shape: z.ZodType): Json {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(shape, { io: 'input' });
  return schema;
}

const PROBLEM: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail', 'retryable'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { enum: Object.keys(PROBLEMS) },
    detail: { type: 'string', description: 'What failed, what came and what was expected.' },
    retryable: { type: 'boolean', description: 'Whether the same request may succeed later: true for 502 and 503.' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['pointer', 'detail'],
        properties: {
          pointer: { type: 'string', description: 'JSON pointer into the body.' },
          detail: { type: 'string' },
        },
      },
    },
    daemon_message: { type: 'string', description: "The runtime's own words." },
    rolled_back: { type: 'boolean', description: 'Whether nothing of the attempt is left.' },
    retry_after_seconds: { type: 'integer' },
  },
};

const PART: Json = {
  type: 'object',
  required: ['ok', 'detail'],
  properties: { ok: { type: 'boolean' }, detail: { type: ['string', 'null'] } },
};

const READINESS: Json = {
  type: 'object',
  required: ['ready', 'parts'],
  properties: {
    ready: { type: 'boolean' },
    parts: {
      type: 'object',
      required: ['runtime', 'lock', 'probe', 'draining', 'files'],
      properties: { runtime: PART, lock: PART, probe: PART, draining: PART, files: PART },
    },
  },
};
