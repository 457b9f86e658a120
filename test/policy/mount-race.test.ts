import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Container } from 'dockerode';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseRequest } from '../../src/admit/request.js';
import type { JobSpec, Refusal } from '../../src/model/admission.js';
import { parsePolicy } from '../../src/policy/policy-file.js';
import { createPolicy } from '../../src/policy/policy.js';
import { containerSpec } from '../../src/runtime/docker/container-spec.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { grantOf } from '../support/jobs.js';
import { nothingOffLimits } from '../support/off-limits.js';

/**
 * A job that is root in its container and may write a root turns what lies in it into links to the machine's own folders and
 * back, as fast as it can, while others ask for mounts. `MOUNT_RACE_TRIES=10000` for a long run.
 */
const TRIES = Number(process.env['MOUNT_RACE_TRIES'] ?? 60);

/** Tries at the same time: each is mostly waiting for the file system, on which the attackers are busy. */
const TOGETHER = 10;
/** How many tries there are between two that look into every folder that is given. */
const LOOKED_INTO_EVERY = 2000;

/** What must not be read by any job: it stands for the machine's shadow file. */
const SECRET = 'only-the-machine-knows-this';

let engine: Engine;
let machine = '';
const at = (path: string) => join(machine, path);
const attackers: Container[] = [];

beforeAll(async () => {
  engine = await startEngine();
  machine = mkdtempSync('/srv/mount-race-');
  for (const folder of ['private/sub', 'scratch/a/sub', 'homes/alice/sub', 'homes/bob', 'sets/cars/sub']) {
    mkdirSync(at(folder), { recursive: true, mode: 0o755 });
  }
  rmSync(at('machine'), { force: true });
  for (const place of ['private/who', 'private/sub/who']) writeFileSync(at(place), SECRET);
  for (const place of ['scratch/who', 'homes/bob/who', 'sets/who', 'sets/cars/who', 'sets/cars/sub/who']) {
    writeFileSync(at(place), place);
  }
  symlinkSync(at('sets/cars'), at('scratch/a/way-in'));
  attackers.push(await attack('scratch', 'a'), await attack('homes/alice', 'sub'));
}, 60_000);
afterAll(async () => {
  await engine?.stop();
  rmSync(machine, { recursive: true, force: true });
});

const policy = createPolicy({
  rules: () => {
    const mounts = [{ root: at('scratch') }, { root: at('homes/*') }, { root: at('sets'), read_only: true }];
    const parsed = parsePolicy('p', JSON.stringify({ mounts }));
    if (parsed.kind === 'bad') throw new Error(parsed.problems.join('\n'));
    return parsed.value;
  },
  offLimits: nothingOffLimits,
});

/** What must not be given however the race stands, and what must go on working in the middle of it. */
const REFUSED = ['scratch/a', 'scratch/a/sub', 'scratch/a/way-in', 'homes/alice/sub', 'private', 'homes'];
const GIVEN = ['scratch', 'homes/bob', 'sets', 'sets/cars', 'sets/cars/sub'];

test(
  `no folder that a job can turn into a link is mounted, in ${TRIES} tries`,
  async () => {
    let refused = 0;
    const looked = new Set<string>();
    for (let first = 0; first < TRIES; first += TOGETHER) {
      const tries = Array.from({ length: Math.min(TOGETHER, TRIES - first) }, (_, at) => first + at);
      const asked = await Promise.all(tries.flatMap((number) => REFUSED.map((source) => askFor(source, number))));
      for (const { source, answer } of asked) {
        if (isRefusal(answer)) refused += 1;
        else expect(await whoIsIn(answer), `${source} was let through`).not.toContain(SECRET);
      }
      if (first % LOOKED_INTO_EVERY === 0) looked.clear();
      const given = await Promise.all(tries.map((number) => askFor(GIVEN[number % GIVEN.length] ?? '', 0)));
      for (const { source, answer } of given) {
        if (isRefusal(answer)) throw new Error(`${source}: ${answer.detail}`);
        expect(answer.container.mounts[0]?.source).toBe(at(source));
        // A container takes a quarter of a second; what is given must be given each time, and a few are looked into.
        if (looked.has(source)) continue;
        looked.add(source);
        expect(await whoIsIn(answer)).toBe(`${source}/who`);
      }
    }
    expect([...looked].toSorted()).toEqual(GIVEN.toSorted());
    expect(refused).toBe(TRIES * REFUSED.length);
    // The race was on to the end, or none of this was a try.
    for (const attacker of attackers) expect((await attacker.inspect()).State.Running).toBe(true);
  },
  120_000 + TRIES * 1000,
);

async function askFor(source: string, tries: number): Promise<{ source: string; answer: JobSpec | Refusal }> {
  return { source, answer: await ask(source, tries % 2 === 0) };
}

/** A job with this root to write that turns the folder into a link to what no job is given, and back. */
async function attack(root: string, folder: string): Promise<Container> {
  const swap = `busybox mv ${folder} kept; busybox ln -s ${at('private')} ${folder}; busybox rm ${folder}; busybox mv kept ${folder}`;
  const container = await engine.docker.createContainer({
    Image: engine.image,
    Cmd: ['sh', '-c', `cd /mine && while :; do ${swap}; done`],
    HostConfig: { Mounts: [{ Type: 'bind', Source: at(root), Target: '/mine' }] },
  });
  await container.start();
  return container;
}

function ask(source: string, readOnly: boolean): Promise<JobSpec | Refusal> {
  const mount = { type: 'bind', source: at(source), target: '/m', read_only: readOnly };
  const container = { image: engine.image, command: ['cat', '/m/who'], mounts: [mount] };
  const request = parseRequest({ run_id: 'race', count: 0, container });
  if ('kind' in request) throw new Error(request.detail);
  return policy(request);
}

/** What the job reads there, or what Docker says where it cannot be started. */
async function whoIsIn(spec: JobSpec): Promise<string> {
  let container: Container | null = null;
  try {
    container = await engine.docker.createContainer({
      ...containerSpec(spec, grantOf(), { memlock: 65_536, hidden: [] }),
      name: '',
    });
    await container.start();
    await container.wait();
    return (await container.logs({ stdout: true, stderr: true })).subarray(8).toString();
  } catch (error) {
    return String(error);
  } finally {
    await container?.remove({ force: true });
  }
}

function isRefusal(answer: JobSpec | Refusal): answer is Refusal {
  return 'kind' in answer;
}
