import { expect, test } from 'vitest';
import { admitRequest } from '../../src/admit/request-schema.js';
import { runRequest, type RunFlags } from '../../src/cli/client/run-request.js';

const namer = {
  user: 'ada@lab',
  letters: 'c0ffee',
  variable: (name: string) => (name === 'HOME' ? '/home/ada' : undefined),
};

const made = (flags: RunFlags, image = 'registry.local:5000/team/train:1.4', command: readonly string[] = []) =>
  runRequest(image, command, flags, namer);

function bodyOf(flags: RunFlags, command: readonly string[] = []): unknown {
  const request = made(flags, undefined, command);
  if (request.kind === 'problem') throw new Error(request.details.join('; '));
  return JSON.parse(request.body);
}

test('names itself by user, image and a few letters where nobody names it, and asks for one card', () => {
  expect(bodyOf({})).toEqual({
    run_id: 'ada-lab-train-c0ffee',
    count: 1,
    container: { image: 'registry.local:5000/team/train:1.4' },
  });
  expect(made({ name: 'mine' })).toMatchObject({ runId: 'mine' });
  for (const image of ['a', 'a/b@sha256:0123', '__x', 'x'.repeat(200)]) {
    const { runId } = made({}, image) as { runId: string };
    expect(admitRequest.shape.run_id.safeParse(runId).success, runId).toBe(true);
  }
});

test('has every flag as a key of the request, in a form that the gate takes', () => {
  const body = bodyOf(
    {
      cards: '2',
      env: ['EPOCHS=3', 'EMPTY=', 'A=b=c', 'HOME', 'NOT_SET'],
      volume: ['/data/sets:/data:ro', 'scratch:/scratch'],
      user: '1000:1000',
      workdir: '/work',
      entrypoint: '/bin/sh',
      network: 'none',
      ipc: 'private',
      cpus: '1.5',
      memoryBytes: '68719476736',
      shmBytes: '1073741824',
      label: ['team=vision'],
      ulimit: ['memlock=-1'],
      publish: ['18080:8080'],
      device: ['/dev/infiniband/uverbs0'],
      capAdd: ['IPC_LOCK'],
      init: false,
    },
    ['python', 'train.py', '--lr', '0.1'],
  );
  expect(body).toMatchObject({
    count: 2,
    container: {
      command: ['python', 'train.py', '--lr', '0.1'],
      env: { EPOCHS: '3', EMPTY: '', A: 'b=c', HOME: '/home/ada' },
      mounts: [
        { type: 'bind', source: '/data/sets', target: '/data', read_only: true },
        { type: 'volume', source: 'scratch', target: '/scratch', read_only: false },
      ],
      ports: [{ host: 18080, container: 8080 }],
      ulimits: { memlock: -1 },
      entrypoint: ['/bin/sh'],
      init: false,
    },
  });
  expect(admitRequest.safeParse(body)).toMatchObject({ success: true });
});

test('names each flag that makes no request, all of them at once', () => {
  expect(made({ cards: 'two', env: ['=x'], volume: ['/data'], publish: ['8080'], label: ['x'] })).toEqual({
    kind: 'problem',
    details: [
      '--env is "=x": expected NAME=VALUE',
      '--volume is "/data": expected SOURCE:TARGET or SOURCE:TARGET:ro',
      '--label is "x": expected NAME=VALUE',
      '--publish is "8080": expected HOST:CONTAINER, two ports',
      '--cards is "two": expected a number',
    ],
  });
});
