import { Validator } from '@seriousme/openapi-schema-validator';
import type { ILayer } from 'express-serve-static-core';
import { expect, test } from 'vitest';
import { PROBLEMS } from '../../src/http/problem.js';
import { createOpenApi } from '../../src/openapi/document.js';
import { OPERATIONS } from '../../src/openapi/operations.js';
import { startGate } from '../http/gate.js';

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(createOpenApi('1.2.3')));
  expect(errors).toBeUndefined();
  expect([valid, validator.version]).toEqual([true, '3.1']);
});

test('it is served, with the version of the package', async () => {
  const gate = await startGate();
  const served = await (await fetch(`${gate.url}/openapi.json`)).json();
  expect(served).toEqual(JSON.parse(JSON.stringify(createOpenApi('1.2.3'))));
  expect(served).toMatchObject({ info: { version: '1.2.3' } });
});

test('every route that is served stands in it, and every route that stands in it is served', async () => {
  const { app } = await startGate();
  const described = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
  expect(routesOf(app.router.stack).toSorted()).toEqual(described.toSorted());
});

test('every code there is stands at one operation at least, and every operation has its problems', () => {
  const said = new Set(OPERATIONS.flatMap(({ problems }) => problems));
  const everywhere = new Set(['forbidden', 'internal', 'unauthenticated', 'method_not_allowed']);
  expect(Object.keys(PROBLEMS).filter((code) => !said.has(code as never) && !everywhere.has(code))).toEqual([]);
});

test('the request is described by the validator itself', () => {
  const { components } = createOpenApi('1') as { components: { schemas: Record<string, Record<string, unknown>> } };
  expect(components.schemas['AdmitRequest']).toMatchObject({
    type: 'object',
    additionalProperties: false,
    required: ['run_id', 'count', 'container'],
    properties: {
      run_id: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' },
      count: { type: 'integer', minimum: 0 },
    },
  });
});

/** Methods and paths of every route, in the words of the document. */
function routesOf(stack: readonly ILayer[]): string[] {
  return stack.flatMap(({ route, handle }) => {
    if (route === undefined) return 'stack' in handle ? routesOf(handle.stack as ILayer[]) : [];
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    const methods = route.stack.map(({ method }) => method).filter((method) => method !== undefined);
    return [...new Set(methods)].map((method) => `${method} ${path}`);
  });
}
