import { describe, expect, test } from 'vitest';
import { cardIndex, cardUuid } from '../../src/model/card.js';
import { CONTAINER_STATES, type SeenContainer, type Snapshot } from '../../src/model/snapshot.js';
import { judge } from '../../src/occupancy/judge.js';
import {
  blind,
  busOf,
  cannotSay,
  container,
  docker,
  gpus,
  job,
  olderJob,
  remember,
  row,
  rowsUpTo,
  rules,
  snapshot,
  uuidOf,
  value,
} from './make.js';

/** Who holds what, as `index: runs`. */
function held(containers: SeenContainer[], look: Partial<Snapshot> = {}, configuredCount = 0): Record<string, string> {
  const { cards } = judge(snapshot({ docker: docker(...containers), ...look }), rules({ configuredCount }));
  return Object.fromEntries(
    cards
      .filter(({ claims }) => claims.length > 0)
      .map(({ index, claims }) => [String(index), claims.map(({ runId }) => runId).join(' ')]),
  );
}
function notes(containers: SeenContainer[], look: Partial<Snapshot> = {}): readonly string[] {
  return judge(snapshot({ docker: docker(...containers), ...look }), rules()).notes;
}
const moved = gpus([row(0), row(2, { index: cardIndex(1) }), row(3, { index: cardIndex(2) })]);

describe('a claim', () => {
  test.each(CONTAINER_STATES)('of a container that is %s holds its card unless it has ended', (state) => {
    expect(held([job('a', [1], { state })])).toEqual(state === 'exited' || state === 'dead' ? {} : { 1: 'a' });
  });

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['by uuid holds that card wherever it stands today', held([job('a', [2])], { gpus: moved }), { 1: 'a' }],
    ['by index holds the card that has the index today', held([olderJob('old', [2])], { gpus: moved }), { 2: 'old' }],
    ['of a container without a run id goes by its name', held([olderJob('job-0', [0])]), { 0: 'job-0' }],
    ['of an empty label holds nothing', held([job('a', [])]), {}],
    [
      'on a card that another holds too is shown beside it, the older first',
      held([job('late', [0], { createdAtMs: 9 }), job('early', [0, 1], { createdAtMs: 5 })]),
      { 0: 'early late', 1: 'early' },
    ],
    [
      'that names a card by uuid and by index holds it once',
      held([olderJob('old', [0], { claim: { uuids: [uuidOf(0)], indices: [cardIndex(0)], unread: [] } })]),
      { 0: 'old' },
    ],
    [
      'by a shortened uuid, as NVIDIA takes it, holds the card',
      held([job('a', [], { claim: { uuids: [uuidOf(3).slice(0, 12) as never], indices: [], unread: [] } })]),
      { 3: 'a' },
    ],
    [
      'on a swapped card does not move to the card in its place (case H04)',
      held([job('old', [5], { labels: { 'tuneplane.gpus': '0' } })], { gpus: gpus([row(0)]) }),
      {},
    ],
    [
      'on a card that is missing keeps it',
      held([job('a', [1])], { gpus: gpus([row(0)], { driverCount: 1 }), remembered: [remember(0), remember(1)] }),
      { 1: 'a' },
    ],
    [
      'on a card whose row lost its uuid keeps it by the bus address',
      held([job('a', [1])], {
        gpus: gpus([row(0), row(1, { uuid: null, pciBusId: busOf(1) })]),
        remembered: [remember(0), remember(1)],
      }),
      { 1: 'a' },
    ],
    [
      'holds the cards seen before while the driver is blind',
      held([job('a', [1])], { gpus: blind(), remembered: [remember(1)] }),
      { 1: 'a' },
    ],
    [
      'holds by its index label where the driver was blind from the first day',
      held([job('a', [4, 2])], { gpus: blind() }, 8),
      { 2: 'a', 4: 'a' },
    ],
  ])('%s', (_says, cards, expected) => expect(cards).toEqual(expected));

  test('carries who made it and the job’s own labels', () => {
    const labels = { 'tuneplane.run_id': 'a', 'tuneplane.principal': 'console', team: 'vision' };
    const [card] = judge(
      snapshot({ docker: docker(job('a', [0], { id: 'abc', createdAtMs: 77, state: 'paused', labels })) }),
      rules(),
    ).cards;
    expect(card?.claims).toEqual([
      {
        runId: 'a',
        container: 'tuneplane-a',
        containerId: 'abc',
        state: 'paused',
        createdAtMs: 77,
        principal: 'console',
        labels: { team: 'vision' },
        image: null,
        command: null,
      },
    ]);
  });

  test('on a card that is not here is told', () => {
    expect(notes([job('a', [9]), olderJob('job-0', [17])])).toEqual([
      `container tuneplane-a (running) claims ${uuidOf(9)}, which is not here`,
      'container job-0 (running) claims card 17, which is not here',
    ]);
  });

  test('that cannot be read in full holds what can be read, and the rest is told', () => {
    const strange = olderJob('job-0', [1], { claim: { uuids: [], indices: [cardIndex(1)], unread: ['-1', 'x,"y'] } });
    expect(held([strange])).toEqual({ 1: 'job-0' });
    expect(notes([strange])).toEqual(['the claim of container job-0 (running) cannot be read in full: "-1", "x,\\"y"']);
  });

  test('that has ended is not remarked on', () => {
    expect(notes([job('a', [9], { state: 'exited' })])).toEqual([]);
  });
});

describe('a foreign container', () => {
  const pinnedTo = (...ids: string[]) => container('jupyter', { pinned: { kind: 'some', ids } });
  const external = (one: SeenContainer, look: Partial<Snapshot> = {}) =>
    judge(snapshot({ docker: docker(one), ...look }), rules())
      .cards.filter(({ state }) => state === 'external')
      .map(({ index }) => index);

  test.each<[string, readonly string[], (number | null)[]]>([
    ['by uuid', [uuidOf(1)], [1]],
    ['by uuid in other letters', [uuidOf(1).toUpperCase()], [1]],
    ['by the beginning of a uuid', ['GPU-bbbb'], [1]],
    ['by index', ['1', '3'], [1, 3]],
    ['by a slice of a card, named by index', ['2:0'], [2]],
    ['by a slice of a card, named by uuid', [`MIG-${uuidOf(2)}/1/0`], [2]],
    ['twice over', ['1', uuidOf(1)], [1]],
    ['by the uuid of a slice, which hides its card', ['MIG-12345678-0000-4000-8000-000000000000'], []],
    ['by a word that is no id', ['GPU-', 'none', ''], []],
  ])('that was given cards %s makes these external', (_says, ids, cards) => {
    expect(external(pinnedTo(...ids))).toEqual(cards);
  });

  test.each([
    ['running', true],
    ['paused', true],
    ['restarting', true],
    ['created', false],
    ['removing', false],
    ['exited', false],
    ['dead', false],
  ] as const)('that is %s uses its cards: %s', (state, uses) => {
    expect(external({ ...pinnedTo('1'), state })).toEqual(uses ? [1] : []);
  });

  test('is none that carries a claim: a job’s own device request is no use from outside', () => {
    const own = job('a', [1], { pinned: { kind: 'some', ids: [uuidOf(1)] } });
    const [, card] = judge(snapshot({ docker: docker(own) }), rules()).cards;
    expect(card).toMatchObject({ state: 'job_held', external: null });
  });

  test('makes its cards external while the driver is blind', () => {
    expect(external(pinnedTo(uuidOf(1)), { gpus: blind(), remembered: [remember(1)] })).toEqual([1]);
  });

  test('that was given all cards, or none, or could not be asked, holds nothing; what matters of it is told (case D08)', () => {
    const containers = [
      container('dcgm', { pinned: { kind: 'all' } }),
      container('slow', { pinned: { kind: 'not_told', detail: 'inspect took longer than 2 s' } }),
      container('web'),
      // The gate itself, in a container of its own: it needs them all to look at them.
      container('gpu-gate', {
        pinned: { kind: 'all' },
        labels: { 'org.opencontainers.image.title': 'tuneplane-gpu-gate' },
      }),
      pinnedTo('9'),
    ];
    const { cards, notes: told } = judge(snapshot({ gpus: gpus(rowsUpTo(2)), docker: docker(...containers) }), rules());
    expect(cards.map(({ state }) => state)).toEqual(['free', 'free']);
    expect(told).toEqual([
      'container dcgm can reach every card and is no job of ours',
      'container jupyter was given 9, which names no card here',
      'the cards of container slow are unknown: inspect took longer than 2 s',
    ]);
  });
});

describe('a container that has been removed for over an hour', () => {
  const dying = job('train', [0, 1], { state: 'removing' });
  const judged = (but: Parameters<typeof row>[1], stuck: readonly string[] = [dying.id]) =>
    judge(
      snapshot({ gpus: gpus([row(0, but), row(1)]), docker: docker(dying), stuckRemovals: stuck }),
      rules(),
    ).cards.map(({ state }) => state);

  test('holds nothing on a card without use, and the card says so', () => {
    expect(judged({})).toEqual(['free', 'free']);
    const [card] = judge(
      snapshot({ gpus: gpus([row(0)]), docker: docker(dying), stuckRemovals: [dying.id] }),
      rules(),
    ).cards;
    expect(card?.warnings).toEqual([
      { reason: 'removal_stuck', detail: expect.stringContaining('tuneplane-train has been in removing') },
    ]);
    expect(card?.warned.removal_stuck).toBe(true);
  });

  test.each<[string, Parameters<typeof row>[1]]>([
    ['is in use', { memoryUsedMib: value(70_000) }],
    ['does not say', { memoryUsedMib: cannotSay }],
  ])('holds a card that %s', (_says, but) => expect(judged(but)).toEqual(['job_held', 'free']));

  test('holds its cards before that hour is over', () => {
    expect(judged({}, [])).toEqual(['job_held', 'job_held']);
  });
});

describe('what a container says of itself is cut before it is quoted', () => {
  const megabyte = 'x'.repeat(1_000_000);
  test.each([
    ['its labels', job('train', [0], { labels: { 'tuneplane.run_id': megabyte, team: megabyte, [megabyte]: 'x' } })],
    ['its name', job('train', [0], { name: megabyte, labels: {} })],
    [
      'a claim on cards that are not here',
      job('train', [], {
        claim: {
          uuids: Array.from({ length: 500 }, (_, at) => cardUuid(`GPU-${at}-${'x'.repeat(1000)}`)),
          indices: [],
          unread: [],
        },
      }),
    ],
    [
      'a claim that cannot be read',
      job('train', [], { claim: { uuids: [], indices: [], unread: [megabyte, megabyte] } }),
    ],
    ['a pin', container('jupyter', { pinned: { kind: 'some', ids: [megabyte] } })],
  ])('%s', (_says, one) => {
    const { cards, notes, explain } = judge(snapshot({ docker: docker(one) }), rules());
    expect(JSON.stringify({ claims: cards.map(({ claims }) => claims), notes, explain }).length).toBeLessThan(10_000);
  });
});
