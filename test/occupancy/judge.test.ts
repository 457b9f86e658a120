import { describe, expect, test } from 'vitest';
import { cardIndex, CARD_STATES } from '../../src/model/card.js';
import type { ExcludedBecause, UnknownBecause } from '../../src/model/occupancy.js';
import type { Snapshot } from '../../src/model/snapshot.js';
import { judge, stateOf, type Deciding } from '../../src/occupancy/judge.js';
import {
  blind,
  cannotSay,
  container,
  denied,
  docker,
  gpus,
  job,
  lost,
  olderJob,
  processOn,
  remember,
  row,
  rowsUpTo,
  rules,
  seen,
  snapshot,
  unreadable,
  uuidOf,
  value,
} from './make.js';

const statesOf = (look: Partial<Snapshot>, set = {}) =>
  judge(snapshot(look), rules(set)).cards.map((card) => card.state);
const cardOf = (look: Partial<Snapshot>, at: number, set = {}) => {
  const card = judge(snapshot(look), rules(set)).cards[at];
  if (card === undefined) throw new Error(`expected a card at place ${at}`);
  return card;
};
const exclusion = { uuid: uuidOf(1), reason: 'fan', since: '2026-11-29T12:00:00.000Z', principal: 'ann', until: null };

describe('the state of a card', () => {
  const [claim] = judge(snapshot({ docker: docker(job('a', [0])) }), rules()).cards[0]?.claims ?? [];
  const every = [false, true];
  const becauses: (UnknownBecause | null)[] = [null, 'blind', 'docker', 'memory', 'permission', 'short_row'];
  const combinations = every.flatMap((held) =>
    every.flatMap((excluded) =>
      every.flatMap((unhealthy) =>
        every.flatMap((external) => becauses.map((because) => ({ held, excluded, unhealthy, external, because }))),
      ),
    ),
  );

  test.each(combinations)(
    'is the first that matches: held $held, excluded $excluded, unhealthy $unhealthy, external $external, unknown $because',
    ({ held, excluded, unhealthy, external, because }) => {
      const found: Deciding = {
        claims: held && claim !== undefined ? [claim] : [],
        excluded: excluded ? { by: 'operator', reason: 'fan', since: null, principal: 'ann', until: null } : null,
        unhealthy: unhealthy ? [{ reason: 'ecc_uncorrected', detail: '1 error' }] : [],
        external: external ? { processes: [], memoryMib: 600, containers: [] } : null,
        unknownBecause: because,
      };
      const table: [boolean, string][] = [
        [held, 'job_held'],
        [excluded, 'excluded'],
        [unhealthy, 'unhealthy'],
        [external && because !== 'docker', 'external'],
        [because !== null, 'unknown'],
        [true, 'free'],
      ];
      expect(stateOf(found)).toBe(table.find(([matches]) => matches)?.[1]);
    },
  );

  test('is free for every card of an idle machine', () => {
    expect(statesOf({})).toEqual(Array(8).fill('free'));
  });

  test('hides no finding: a held card that is excluded, sick and used from outside shows all of it', () => {
    const card = cardOf(
      {
        gpus: gpus([row(0), row(1, { memoryUsedMib: value(900), health: { eccUncorrected: value('3') } })]),
        processes: seen([processOn(1)]),
        docker: docker(job('train-17', [1]), container('jupyter', { pinned: { kind: 'some', ids: [uuidOf(1)] } })),
        exclusions: [exclusion],
      },
      1,
    );
    expect(card).toMatchObject({
      state: 'job_held',
      claims: [{ runId: 'train-17', container: 'tuneplane-train-17' }],
      excluded: { by: 'operator', reason: 'fan', since: '2026-11-29T12:00:00.000Z', principal: 'ann', until: null },
      unhealthy: [{ reason: 'ecc_uncorrected' }],
      external: { processes: [{ pid: 4242, name: 'python', memoryMib: 812 }], memoryMib: 900, containers: ['jupyter'] },
    });
  });
});

describe('a probe that is blind', () => {
  const busy: Partial<Snapshot> = {
    gpus: gpus([
      row(0, { memoryUsedMib: value(9000) }),
      row(1),
      row(2, { health: { hwSlowdown: value('Active') } }),
      row(3),
    ]),
    exclusions: [exclusion],
    remembered: [0, 1, 2, 3].map((number) => remember(number)),
    docker: docker(job('train-17', [3]), container('jupyter', { pinned: { kind: 'some', ids: ['0'] } })),
  };

  test.each<[string, Partial<Snapshot>, string[]]>([
    ['shows all when nothing is blind', {}, ['external', 'excluded', 'unhealthy', 'job_held']],
    [
      'leaves excluded and unhealthy as they are when it is Docker, and no other card is known',
      { docker: blind('unavailable') },
      ['unknown', 'excluded', 'unhealthy', 'unknown'],
    ],
    [
      'leaves what Docker knows when it is nvidia-smi',
      { gpus: blind(), processes: blind(), health: blind() },
      ['external', 'excluded', 'unknown', 'job_held'],
    ],
    [
      'leaves only what is excluded when it is both',
      { gpus: blind(), processes: blind(), health: blind(), docker: blind('unavailable') },
      ['unknown', 'excluded', 'unknown', 'unknown'],
    ],
    [
      'leaves memory and pins to judge by when it is the process list',
      { processes: blind() },
      ['external', 'excluded', 'unhealthy', 'job_held'],
    ],
  ])('%s', (_says, look, states) => {
    expect(statesOf({ ...busy, ...look })).toEqual(states);
  });

  test('is told by card: because of the containers before because of the driver', () => {
    expect(cardOf({ ...busy, gpus: blind() }, 2).unknownBecause).toBe('blind');
    expect(cardOf({ ...busy, gpus: blind(), docker: blind('unavailable') }, 2).unknownBecause).toBe('docker');
  });

  test('says nothing about processes, memory or health', () => {
    const card = cardOf({ ...busy, gpus: blind(), processes: blind() }, 2);
    expect(card).toMatchObject({
      processes: null,
      memoryUsedBytes: null,
      memorySizeBytes: null,
      persistenceMode: null,
    });
    expect(card.health).toEqual({});
    expect(card.name).toBe('NVIDIA H100 80GB HBM3');
  });

  test('still counts a process that the list shows on a card seen before', () => {
    expect(cardOf({ ...busy, gpus: blind(), processes: seen([processOn(2)]) }, 2).state).toBe('external');
  });
});

describe('checks that are switched off', () => {
  const off = { checkExternal: false };
  test('no card is external and none unknown for memory, and the external probe counts as well', () => {
    const look: Partial<Snapshot> = {
      gpus: gpus([
        row(0, { memoryUsedMib: value(9000) }),
        row(1, { memoryUsedMib: cannotSay }),
        row(2, { memoryUsedMib: denied }),
      ]),
      processes: { kind: 'off' },
      docker: docker(container('jupyter', { pinned: { kind: 'some', ids: ['1'] } })),
    };
    expect(statesOf(look, off)).toEqual(['free', 'free', 'free']);
    expect(judge(snapshot(look), rules(off)).externalProbeOk).toBe(true);
    expect(judge(snapshot({ gpus: blind() }), rules(off)).externalProbeOk).toBe(true);
    expect(cardOf(look, 0, off)).toMatchObject({ external: null, warned: { row_remap_pending: false } });
    expect(cardOf(look, 0, off).memoryUsedBytes).toBe(9000 * 1024 * 1024);
  });

  test('no health column makes a card unhealthy, but a card that is missing or answers with error words stays so', () => {
    const look: Partial<Snapshot> = {
      gpus: gpus(
        [row(0, { health: { eccUncorrected: value('9'), hwSlowdown: lost } }), row(1, { memoryUsedMib: lost })],
        { broken: [{ index: cardIndex(2), pciBusId: null, words: 'GPU is lost', denied: false }], driverCount: 4 },
      ),
      health: { kind: 'off' },
    };
    expect(statesOf(look, { checkHealth: false })).toEqual(['free', 'unhealthy', 'unhealthy', 'unhealthy']);
    expect(cardOf(look, 0, { checkHealth: false }).health).toEqual({ driver_error: false, missing: false });
  });
});

describe('the external probe', () => {
  test.each<[string, Partial<Snapshot>, boolean]>([
    [
      'is well when one card of many tells its memory',
      { gpus: gpus([row(0, { memoryUsedMib: cannotSay }), row(1)]) },
      true,
    ],
    ['is well without a process list', { processes: blind() }, true],
    ['is well on a machine without cards', { gpus: gpus([]) }, true],
    ['has failed when the driver could not be asked', { gpus: blind() }, false],
    [
      'has failed when cards are there and none tells its memory',
      { gpus: gpus([row(0, { memoryUsedMib: cannotSay })]) },
      false,
    ],
    [
      'has failed when every card is a complaint',
      { gpus: gpus([], { broken: [{ index: cardIndex(0), pciBusId: null, words: 'lost', denied: false }] }) },
      false,
    ],
  ])('%s', (_says, look, ok) => {
    expect(judge(snapshot(look), rules()).externalProbeOk).toBe(ok);
  });
});

describe('exclusion', () => {
  test.each<[string, Partial<Snapshot>, object, Partial<ExcludedBecause> | null]>([
    [
      'by an operator, whose name is told',
      { exclusions: [exclusion] },
      {},
      { by: 'operator', since: '2026-11-29T12:00:00.000Z', principal: 'ann', until: null },
    ],
    [
      'by an operator until a time',
      { exclusions: [{ ...exclusion, until: '2026-11-29T14:00:00.000Z' }] },
      {},
      { by: 'operator', until: '2026-11-29T14:00:00.000Z' },
    ],
    ['by the settings, by index', {}, { excludeCards: ['1'] }, { by: 'settings', since: null, principal: null }],
    ['by the settings, by uuid in any letters', {}, { excludeCards: [uuidOf(1).toUpperCase()] }, { by: 'settings' }],
    ['by partitioning', { gpus: gpus([row(0), row(1, { migMode: value('Enabled') })]) }, {}, { by: 'mig' }],
    ['by the configured count', {}, { configuredCount: 1 }, { by: 'count' }],
    ['not by a count of zero', {}, { configuredCount: 0 }, null],
    ['not by MIG columns that say nothing', { gpus: gpus([row(0), row(1, { migMode: cannotSay })]) }, {}, null],
    [
      'first of all by the operator',
      { exclusions: [exclusion] },
      { excludeCards: ['1'], configuredCount: 1 },
      { by: 'operator' },
    ],
  ])('%s', (_says, look, set, because) => {
    const { excluded } = cardOf(look, 1, set);
    if (because === null) expect(excluded).toBeNull();
    else expect(excluded).toMatchObject(because);
  });

  test('of a card that is not here is remarked on', () => {
    const { notes } = judge(
      snapshot({ gpus: gpus([row(0)]), exclusions: [exclusion] }),
      rules({ excludeCards: ['9', 'GPU-nobody'] }),
    );
    expect(notes).toEqual([
      'TUNEPLANE_EXCLUDE_CARDS names 9, which is not here',
      'TUNEPLANE_EXCLUDE_CARDS names GPU-nobody, which is not here',
      `${uuidOf(1)}, excluded by ann, is not here`,
    ]);
  });
});

describe('the sum', () => {
  test('counts every card in one of the six states', () => {
    const { counts, cards } = judge(
      snapshot({
        gpus: gpus([row(0), row(1, { memoryUsedMib: value(700) }), row(2, { memoryUsedMib: unreadable }), row(3)]),
        docker: docker(olderJob('old', [3])),
      }),
      rules(),
    );
    expect(Object.keys(counts)).toEqual([...CARD_STATES]);
    expect(counts).toEqual({ job_held: 1, excluded: 0, unhealthy: 0, external: 1, unknown: 1, free: 1 });
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(cards.length);
  });

  test('expects the configured count, or else the cards known, those taken out included', () => {
    expect(judge(snapshot(), rules({ configuredCount: 4 })).expected).toBe(4);
    expect(judge(snapshot({ gpus: blind(), remembered: [remember(0)] }), rules()).expected).toBe(1);
    expect(judge(snapshot({ gpus: gpus(rowsUpTo(2)), exclusions: [exclusion] }), rules()).expected).toBe(2);
  });

  test('names the series after the setting, else after the card, and not at all while no name is known', () => {
    expect(judge(snapshot(), rules({ clusterProfile: 'H100-nvl' })).series).toBe('H100-nvl');
    expect(judge(snapshot(), rules()).series).toBe('nvidia h100 80gb hbm3');
    expect(cardOf({}, 0).series).toBe('nvidia h100 80gb hbm3');
    expect(judge(snapshot({ gpus: blind() }), rules({ configuredCount: 1 })).series).toBeNull();
  });

  test('reports each probe as it fared', () => {
    const { probes } = judge(
      snapshot({ health: { kind: 'off' }, docker: blind('unavailable', 'connect ENOENT /var/run/docker.sock') }),
      rules(),
    );
    expect(probes).toEqual({
      gpus: { probe: 'gpus', state: 'ok', why: null, detail: null, tookMs: 80 },
      processes: { probe: 'processes', state: 'ok', why: null, detail: null, tookMs: 80 },
      health: { probe: 'health', state: 'off', why: null, detail: null, tookMs: null },
      docker: {
        probe: 'docker',
        state: 'failed',
        why: 'unavailable',
        detail: 'connect ENOENT /var/run/docker.sock',
        tookMs: 12,
      },
      kernel: { probe: 'kernel', state: 'off', why: null, detail: null, tookMs: null },
    });
  });

  test('is the same for the same look, and leaves the look as it was', () => {
    const look = snapshot({ docker: docker(job('b', [2]), job('a', [1, 2])), remembered: [remember(9)] });
    const before = structuredClone(look);
    expect(judge(look, rules())).toEqual(judge(look, rules()));
    expect(look).toEqual(before);
  });

  test('does not depend on the order of rows and containers', () => {
    const containers = [
      job('a', [1], { createdAtMs: 5 }),
      job('b', [1], { createdAtMs: 4 }),
      container('all', { pinned: { kind: 'all' } }),
    ];
    const one = judge(snapshot({ gpus: gpus(rowsUpTo(4)), docker: docker(...containers) }), rules());
    const other = judge(
      snapshot({ gpus: gpus(rowsUpTo(4).toReversed()), docker: docker(...containers.toReversed()) }),
      rules(),
    );
    expect(other).toEqual(one);
  });
});
