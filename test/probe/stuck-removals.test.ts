import { expect, test } from 'vitest';
import type { ContainersSeen, ContainerState, Probed, SeenContainer } from '../../src/model/snapshot.js';
import { watchRemovals } from '../../src/probe/stuck-removals.js';

const list = (...states: [id: string, state: ContainerState][]): Probed<ContainersSeen> => ({
  kind: 'seen',
  value: { containers: states.map(([id, state]) => ({ id, state }) as SeenContainer) },
  tookMs: 1,
});
const blind: Probed<ContainersSeen> = { kind: 'blind', why: 'exit', detail: '', tookMs: 1 };
const MINUTE = 60_000;

test('a container is stuck once it was seen in removing for over an hour, without a break', () => {
  let now = 0;
  const stuck = watchRemovals({ monotonic: () => now });
  const at = (minutes: number, docker: Probed<ContainersSeen>): readonly string[] => {
    now = minutes * MINUTE;
    return stuck(docker);
  };
  expect(at(0, list(['a', 'removing'], ['b', 'running']))).toEqual([]);
  expect(at(30, list(['a', 'removing'], ['b', 'removing']))).toEqual([]);
  expect(at(60, list(['a', 'removing'], ['b', 'removing']))).toEqual([]);
  expect(at(61, list(['a', 'removing'], ['b', 'removing']))).toEqual(['a']);
  // A list that failed says nothing new.
  expect(at(91, blind)).toEqual(['a', 'b']);
  expect(at(92, list(['b', 'removing']))).toEqual(['b']);
  expect(at(93, list(['b', 'running']))).toEqual([]);
  expect(at(200, list(['b', 'removing']))).toEqual([]);
});
