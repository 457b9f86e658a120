import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { parseRequest } from '../../src/admit/request.js';
import type { JobRequest } from '../../src/model/admission.js';
import type { createOpenApi } from '../../src/openapi/document.js';
import { RULES_WITHOUT_A_FILE } from '../../src/policy/policy-rules.js';
import { createPolicy } from '../../src/policy/policy.js';
import { startGate } from '../http/gate.js';
import { nothingOffLimits } from '../support/off-limits.js';

const smallest = { run_id: 'train-17', count: 1, container: { command: ['python', 'train.py'] } };

const withContainer = (more: object) => ({ ...smallest, container: { ...smallest.container, ...more } });

function pointersOf(body: unknown): readonly string[] {
  const answer = parseRequest(body, 'process');
  return 'kind' in answer ? (answer.errors ?? []).map(({ pointer, detail }) => `${pointer}: ${detail}`) : [];
}

describe('a request to start a plain process', () => {
  test('says a command, and may say env and a working folder', () => {
    const body = withContainer({ env: { EPOCHS: '3' }, working_dir: '/data' });
    expect(parseRequest(body, 'process')).toMatchObject({
      runId: 'train-17',
      count: 1,
      container: { command: ['python', 'train.py'], env: { EPOCHS: '3' }, workingDir: '/data' },
    });
  });

  test.each([
    ['no command', { ...smallest, container: {} }, /^\/container\/command: missing/],
    ['an empty command', withContainer({ command: [] }), /^\/container\/command: expected at least the program/],
    [
      'a relative folder',
      withContainer({ working_dir: 'data' }),
      /^\/container\/working_dir: expected an absolute path/,
    ],
    ['a misspelt key', withContainer({ comand: [] }), /^\/container\/comand: unknown key; known here: command, env/],
    ['a count in quotes', { ...smallest, count: '1' }, /^\/count: expected a whole number/],
    ['no container', { run_id: 'a', count: 1 }, /^\/container: missing/],
  ])('with %s is refused', (_says, body, words) => {
    expect(pointersOf(body)).toEqual([expect.stringMatching(words)]);
  });

  test.each([
    ['image', 'registry.local/train'],
    ['mounts', []],
    ['memory_bytes', 2 ** 30],
    ['shm_bytes', 2 ** 30],
    ['user', '1000'],
    ['network', 'bridge'],
    ['labels', {}],
    ['entrypoint', ['/bin/sh']],
    ['devices', []],
    ['ulimits', {}],
  ])('with %s, which needs Docker, is refused by its name', (key, value) => {
    expect(pointersOf(withContainer({ [key]: value }))).toEqual([
      `/container/${key}: ${key} needs Docker; this gate starts plain processes, which take command, env and working_dir`,
    ]);
  });
});

describe('the policy of a gate that starts plain processes', () => {
  const request = (more: object, count = 1) => parseRequest({ ...withContainer(more), count }, 'process') as JobRequest;

  test('lets through what has no wall that a rule could speak of, whatever the rules are', async () => {
    const rules = { ...RULES_WITHOUT_A_FILE, images: ['nothing'], users: ['nobody'], networks: [] };
    const policy = createPolicy({ rules: () => rules, offLimits: nothingOffLimits, runtime: 'process' });
    expect(await policy(request({}))).toMatchObject({ runId: 'train-17', container: { image: '', mounts: [] } });
  });

  test.each(['CUDA_VISIBLE_DEVICES', 'CUDA_DEVICE_ORDER', 'NVIDIA_VISIBLE_DEVICES', 'LD_PRELOAD'])(
    'never lets a request set %s',
    async (name) => {
      const policy = createPolicy({
        rules: () => RULES_WITHOUT_A_FILE,
        offLimits: nothingOffLimits,
        runtime: 'process',
      });
      expect(await policy(request({ env: { [name]: '0' } }))).toMatchObject({
        code: 'policy_denied',
        errors: [{ pointer: `/container/env/${name}` }],
      });
    },
  );

  test('bounds the cards of one job', async () => {
    const rules = { ...RULES_WITHOUT_A_FILE, max: { pids: 1, cards: 2, ulimits: {} } };
    const policy = createPolicy({ rules: () => rules, offLimits: nothingOffLimits, runtime: 'process' });
    expect(await policy(request({}, 3))).toMatchObject({ code: 'policy_denied', errors: [{ pointer: '/count' }] });
    expect(await policy(request({}, 2))).toMatchObject({ count: 2 });
  });
});

test('the OpenAPI document that such a gate serves is valid, and has the request as it is there', async () => {
  const gate = await startGate({ runtime: 'process' });
  const served = (await (await fetch(`${gate.url}/openapi.json`)).json()) as ReturnType<typeof createOpenApi>;
  expect(await new Validator().validate(structuredClone(served))).toMatchObject({ valid: true });
  const { AdmitRequest } = (served as { components: { schemas: Record<string, object> } }).components.schemas;
  expect(AdmitRequest).toMatchObject({
    properties: { container: { required: ['command'], properties: { command: { minItems: 1 }, env: {} } } },
  });
  expect(JSON.stringify(AdmitRequest)).not.toContain('shm_bytes');
});

test('a request for a container, posted to such a gate, is refused field by field', async () => {
  const gate = await startGate({ runtime: 'process' });
  const answer = await gate.post({ run_id: 'a', count: 1, container: { image: 'train', command: ['x'] } });
  expect([answer.status, await answer.json()]).toMatchObject([400, { errors: [{ pointer: '/container/image' }] }]);
  expect(gate.calls).toEqual([]);
});
