import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Route } from 'playwright-core';
import { afterEach, describe, expect, test } from 'vitest';
import type { CardState } from '../../src/model/card.js';
import { STATE_COLOURS } from '../../src/model/colours.js';
import type { Snapshot } from '../../src/model/snapshot.js';
import { blind, docker, gpus, job, remember, row, rowsUpTo, snapshot, value } from '../occupancy/make.js';
import { barriers, browserForThisFile, PHONE, type Reader } from './browser.js';
import { hostileMachine, INJECTION, MIXED_DECISIONS, mixedMachine } from './mixed-machine.js';
import { closeThoseThatCameBack, showGate, type ShownGate } from './shown-gate.js';

const browser = browserForThisFile();
afterEach(closeThoseThatCameBack);

/** The real app on a port, and a browser that looks at its page. */
async function look(
  but: Partial<ShownGate> = {},
  as: Parameters<typeof browser.open>[1] = {},
): Promise<{ gate: ShownGate; page: Reader }> {
  const gate = await showGate({ snapshot: mixedMachine(), ...but });
  for (const decision of MIXED_DECISIONS) gate.decide(decision);
  const page = await browser.open(gate.url, { timezoneId: 'UTC', ...as });
  await page.locator('#shown').waitFor();
  return { gate, page };
}

/** The page's next question, without the wait for it. */
async function nextAnswer(gate: ShownGate, page: Reader): Promise<void> {
  const { asked } = gate;
  await page.clock.runFor(2_100);
  await expect.poll(() => gate.asked).toBeGreaterThan(asked);
}

const cardTexts = (page: Reader) => page.locator('.card').allInnerTexts();
const text = (page: Reader, selector: string) => page.locator(selector).innerText();
/** Wider than the window: a reader would have to push it aside. */
const overflows = (page: Reader) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

describe('a machine whose cards are in all states', () => {
  test('shows for each card its number, its state in words, its name, its memory and why', async () => {
    const { page } = await look();
    const cards = (await cardTexts(page)).map((each) => each.replaceAll(/\s+/g, ' '));
    expect(cards).toEqual([
      expect.stringMatching(
        /^Card 0 Held by a job NVIDIA H100.* 69\.6 of 79\.6 GiB in use 0 % busy · 31 °C · 71 W train-17 running · for 2 h 14 min/,
      ),
      expect.stringMatching(/^Card 1 Held by a job .* Row remap pending a remapped row takes effect/),
      expect.stringMatching(/^Card 2 Free NVIDIA H100 80GB HBM3 0\.0 of 79\.6 GiB in use 0 % busy · 31 °C · 71 W$/),
      expect.stringMatching(/^Card 3 Taken out .* Fan replacement by operator · for 47 min · ends in 1 h 1[23] min$/),
      expect.stringMatching(/^Card 4 Held by a job .* tune-lora-3 running · for 9 min · by console/),
      expect.stringMatching(/^Card 5 Used from outside .*python3 pid 4242 · 12866 MiB jupyter-lab a container/),
      expect.stringMatching(/^Card 6 Unhealthy .* ECC uncorrected 3 uncorrected .* Recovery action .* Reset$/),
      expect.stringMatching(/^Card 7 Unknown .* 79\.6 GiB, use not read 0 % busy · 31 °C · 71 W Not seen well enough/),
    ]);
    expect(page.trouble).toEqual({ violations: [], errors: [] });
  });

  test('says how many are free, explains the others, and names the machine in the title of the tab', async () => {
    const { page } = await look();
    expect(await text(page, '.total')).toMatch(/^1\s+of 8 cards free$/);
    expect(await text(page, '#counts')).toMatch(
      /1 free\s+3 held by a job\s+1 used from outside\s+1 unhealthy\s+1 taken out\s+1 unknown/,
    );
    expect(await text(page, '#explain')).toMatch(/^8 cards, 1 free; 3 held by jobs \(cards 0,1: train-17/);
    expect(await page.title()).toBe('gpu-01: 1 of 8 free');
  });

  test.each(['light', 'dark'] as const)('shows each state in its colour on a %s ground', async (colorScheme) => {
    const { page } = await look({}, { colorScheme });
    const shown = await page
      .locator('.card')
      .evaluateAll((cards) =>
        cards.map((card) => [card.getAttribute('data-state'), getComputedStyle(card).borderTopColor]),
      );
    const rgb = (hex: string) => `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(', ')})`;
    for (const [state, colour] of shown) expect(colour).toBe(rgb(STATE_COLOURS[state as CardState][colorScheme]));
    expect(new Set(shown.map(([state]) => state)).size).toBe(6);
  });

  test('tells the last decisions, newest first, with their reasons', async () => {
    const { page } = await look();
    const rows = (await page.locator('#decisions li').allInnerTexts()).map((each) => each.replaceAll(/\s+/g, ' '));
    expect(rows).toEqual([
      expect.stringMatching(/^13:41:57 wait 23× in 1 min big-eval 4 cards asked for: 8 cards, 1 free/),
      expect.stringMatching(/^13:33:07 admitted tune-lora-3 Card 4: keeps the largest island whole$/),
      expect.stringMatching(/^12:55:07 excluded by operator Card 3: Fan replacement$/),
      expect.stringMatching(/^12:41:07 image not found train-16 2 cards asked for: .*manifest unknown$/),
      expect.stringMatching(/^11:28:07 admitted train-17 Cards 0,1: all of them are joined/),
    ]);
  });

  test('shows the lock: who has it, who waits, and Redis', async () => {
    const { gate, page } = await look({
      gate: {
        inFlight: 3,
        lockWaiters: 2,
        lockHeld: true,
        redisUp: true,
        draining: false,
        line: { waiting: 0, oldestMs: null },
      },
    });
    expect(await text(page, '#lock')).toMatch(
      /Held\s+by this gate\s+Waiting for it\s+2\s+Redis\s+up\s+Admissions under way\s+3/,
    );
    gate.gate = { ...gate.gate, lockHeld: false, redisUp: false };
    gate.lockProblem = 'redis does not answer: ECONNREFUSED';
    await nextAnswer(gate, page);
    await expect.poll(() => text(page, '#lock')).toMatch(/Held\s+redis does not answer: ECONNREFUSED.*Redis\s+down/s);
    expect(await text(page, '#closed')).toBe(
      'Nothing can be admitted: the lock is not available: redis does not answer: ECONNREFUSED',
    );
  });
});

describe('a machine that cannot be seen', () => {
  test('shows every card as unknown, a dark lamp with its age, and that nothing can be admitted', async () => {
    const { gate, page } = await look();
    const startedAtMs = gate.snapshot.startedAtMs + 4 * 60_000;
    const words = 'nvidia-smi did not answer within 10 s';
    const remembered = rowsUpTo(8).map((_, number) => remember(number));
    gate.snapshot = snapshot({
      startedAtMs,
      gpus: blind('timeout', words),
      health: blind('timeout', words),
      remembered,
    });
    await nextAnswer(gate, page);
    await expect.poll(() => text(page, '.total')).toMatch(/^0\s+of 8 cards free$/);
    expect(await page.locator('.card[data-state="unknown"]').count()).toBe(8);
    const [cards, processes] = await page.locator('#probes li').allInnerTexts();
    expect(cards).toMatch(
      /Cards\s+blind \(timeout\), last seen 4 min ago, 13:42:07\s+nvidia-smi did not answer within 10 s/,
    );
    expect(processes).toMatch(/Processes\s+seen \d s ago, in 80 ms/);
    expect(await text(page, '#closed')).toBe(`Nothing can be admitted: the cards cannot be seen: ${words}`);
    expect(await text(page, '#spoken')).toBe('0 of 8 cards free; nothing can be admitted now');
    expect(await barriers(page)).toEqual([]);
  });

  test('says that Docker is down, and that jobs cannot be told', async () => {
    const words = 'connect ENOENT /var/run/docker.sock';
    const { page } = await look({ snapshot: snapshot({ docker: blind('unavailable', words) }) });
    expect(await text(page, '#closed')).toBe(`Nothing can be admitted: the runtime does not answer: ${words}`);
    expect((await cardTexts(page))[0]).toMatch(/Unknown.*whether a job holds it is not known/s);
    expect(
      await page.locator('.lamp').evaluateAll((lamps) => lamps.map((lamp) => lamp.getAttribute('data-lamp'))),
    ).toEqual(['on', 'on', 'on', 'out', 'off']);
    expect(await text(page, '#probes li:nth-child(4)')).toMatch(
      /blind \(unavailable\), not seen since the gate started/,
    );
  });

  test('shows a probe that is switched off as neither', async () => {
    const { page } = await look({ snapshot: snapshot({ health: { kind: 'off' } }) });
    expect(await text(page, '#probes li:nth-child(3)')).toMatch(/Health\s+off\s+switched off by a setting/);
  });

  test('says when the look is old although the gate answers', async () => {
    const { page } = await look({ ageMs: 40_000 });
    expect(await text(page, '#alarm')).toBe('The last look at the cards is old: it is from 13:42:07.');
    expect(await text(page, '#freshness')).toMatch(/^Last look 4\d s ago$/);
  });
});

describe('any size of machine and of window', () => {
  const sixteen = snapshot({ gpus: gpus(rowsUpTo(16)), docker: docker(job('all', [0, 1, 2, 3, 4, 5, 6, 7])) });
  const sizes: [string, Snapshot, number][] = [
    ['16 cards', sixteen, 16],
    ['no card', snapshot({ gpus: gpus([]) }), 0],
    ['one card', snapshot({ gpus: gpus([row(0)]) }), 1],
  ];

  test.each(sizes)('%s', async (_says, machine, count) => {
    const { page } = await look({ snapshot: machine });
    expect(await page.locator('.card').count()).toBe(count);
    expect(await page.locator('#no-cards').isVisible()).toBe(count === 0);
    expect(await text(page, '.total')).toMatch(count === 1 ? /of 1 card free/ : new RegExp(`of ${count} cards free`));
    expect(await overflows(page)).toBe(false);
  });

  test.each([
    ['all states', mixedMachine()],
    ['16 cards', sixteen],
    ['long words without a space', hostileMachine()],
  ])('nothing is wider than a phone: %s', async (_says, machine) => {
    const { page } = await look({ snapshot: machine, machine: 'gpu-'.repeat(30) }, { viewport: PHONE, hasTouch: true });
    expect(await overflows(page)).toBe(false);
    const widest = await page
      .locator('.card')
      .evaluateAll((cards) => Math.max(...cards.map((card) => card.clientWidth)));
    expect(widest).toBeGreaterThan(300);
  });
});

describe('while somebody looks', () => {
  test('a change is drawn into what is there: no element is made anew, and a selection stays', async () => {
    const { gate, page } = await look();
    await page.evaluate(() => {
      const cards = [...document.querySelectorAll('.card')];
      Object.assign(globalThis, { before: cards, changed: 0 });
      getSelection()?.selectAllChildren(
        document.querySelector('.card[data-state="job_held"] .held b') ?? document.body,
      );
      const seen = new MutationObserver((changes) => {
        const added = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter((node) => node instanceof Element);
        Object.assign(globalThis, { changed: (globalThis as unknown as { changed: number }).changed + added.length });
      });
      seen.observe(document.body, { childList: true, subtree: true });
    });
    const { gpus: seen } = mixedMachine();
    if (seen.kind !== 'seen') throw new Error('the machine is blind');
    const rows = seen.value.rows.map((each, at) =>
      at === 0 ? { ...each, readings: { ...each.readings, memoryUsedMib: value(40_000) } } : each,
    );
    gate.snapshot = { ...mixedMachine(), gpus: gpus(rows) };
    await nextAnswer(gate, page);
    await expect.poll(() => text(page, '.card:first-child .memory')).toBe('39.1 of 79.6 GiB in use');
    const after = await page.evaluate(() => {
      const { before, changed } = globalThis as unknown as { before: Element[]; changed: number };
      const cards = [...document.querySelectorAll('.card')];
      return { same: cards.every((card, at) => card === before[at]), changed, selected: String(getSelection()) };
    });
    expect(after).toEqual({ same: true, changed: 0, selected: 'train-17' });
  });

  test('a card that comes or goes leaves the others where they are', async () => {
    const { gate, page } = await look({ snapshot: snapshot({ gpus: gpus([row(0), row(2)]) }) });
    await page.evaluate(() => Object.assign(globalThis, { before: [...document.querySelectorAll('.card')] }));
    gate.snapshot = snapshot({ gpus: gpus([row(0), row(1), row(2)]) });
    await nextAnswer(gate, page);
    await expect.poll(() => page.locator('.card .number').allInnerTexts()).toEqual(['Card 0', 'Card 1', 'Card 2']);
    const places = await page.evaluate(() => {
      const { before } = globalThis as unknown as { before: Element[] };
      return before.map((card) => [...document.querySelectorAll('.card')].indexOf(card));
    });
    expect(places).toEqual([0, 2]);
  });

  test('a gate that has gone is said, with the time of its last word, until it is back', async () => {
    const { gate, page } = await look();
    expect(await page.locator('#alarm').isVisible()).toBe(false);
    await gate.leave();
    await page.clock.runFor(2_100);
    await page.locator('#alarm').waitFor();
    expect(await text(page, '#alarm')).toMatch(
      /^The gate does not answer\. This is its last answer, from \d\d:\d\d:\d\d, and may be outdated\.$/,
    );
    expect(await page.locator('body').getAttribute('class')).toBe('stale');
    expect(await page.locator('.card').count()).toBe(8);
    expect(await barriers(page)).toEqual([]);
    await page.clock.runFor(65_000);
    await expect.poll(() => page.title()).toMatch(/^gpu-01: no answer for 1 min$/);
    await gate.comeBack();
    await page.clock.runFor(2_100);
    await page.locator('#alarm').waitFor({ state: 'hidden' });
    await expect.poll(() => page.title()).toBe('gpu-01: 1 of 8 free');
    expect(await page.locator('body').getAttribute('class')).toBe('');
  });

  test('a gate that answers something else is not taken for one that has gone', async () => {
    const { gate, page } = await look();
    await page.route('**/status.json', (route) => route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' }));
    await page.clock.runFor(2_100);
    await expect
      .poll(() => text(page, '#alarm'))
      .toMatch(/^The gate cannot report its status: the answer is not JSON\./);
    await page.unroute('**/status.json');
    await nextAnswer(gate, page);
    await page.locator('#alarm').waitFor({ state: 'hidden' });
  });

  test.each([
    ['between two questions', false],
    ['while an answer is under way', true],
  ])(
    'a page that goes out of sight %s asks nothing more, and asks at once when it is seen again',
    async (_when, midway) => {
      const { gate, page } = await look();
      const setHidden = (hidden: boolean) =>
        page.evaluate((is) => {
          Object.defineProperty(document, 'hidden', { value: is, configurable: true });
          document.dispatchEvent(new Event('visibilitychange'));
        }, hidden);
      if (midway) {
        const held: Route[] = [];
        await page.route('**/status.json', (route) => void held.push(route));
        await page.clock.runFor(2_100);
        await expect.poll(() => held.length).toBe(1);
        await setHidden(true);
        const came = page.waitForResponse('**/status.json');
        await held[0]?.continue();
        await came;
        await page.unroute('**/status.json');
      } else {
        await setHidden(true);
      }
      const { asked } = gate;
      await page.clock.runFor(60_000);
      expect(gate.asked).toBe(asked);
      await setHidden(false);
      await expect.poll(() => gate.asked).toBe(asked + 1);
    },
  );
});

describe('whatever a stranger can write', () => {
  test('stays text: no markup of a name, a label or the driver becomes an element', async () => {
    const { gate, page } = await look({ snapshot: hostileMachine(), machine: INJECTION });
    gate.decide({ runId: INJECTION, principal: INJECTION, outcome: INJECTION, detail: INJECTION, cards: [INJECTION] });
    await nextAnswer(gate, page);
    await expect.poll(() => text(page, '#decisions li:first-child .why')).toContain(INJECTION);
    expect(await page.locator('img, #shown script, iframe').count()).toBe(0);
    expect(await text(page, '#machine')).toBe(INJECTION);
    expect((await cardTexts(page)).join()).toContain(INJECTION);
    expect(await page.title()).toContain('of 3 free');
    expect(page.trouble).toEqual({ violations: [], errors: [] });
  });

  test('could not run even if it became markup', async () => {
    const { page } = await look();
    const refused = await page.evaluate((markup) => {
      try {
        document.body.innerHTML = markup;
        return 'written';
      } catch (error) {
        return String(error);
      }
    }, INJECTION);
    expect(refused).toMatch(/TrustedHTML/);
    await expect.poll(() => page.trouble.violations.join()).toMatch(/trusted-types/);
  });
});

describe('every reader', () => {
  test.each(['light', 'dark'] as const)(
    'meets no barrier on a %s ground, at a desk or with a phone',
    async (colorScheme) => {
      const { page } = await look({}, { colorScheme });
      expect(await barriers(page)).toEqual([]);
      await page.setViewportSize(PHONE);
      expect(await barriers(page)).toEqual([]);
    },
  );

  test('hears headings, lists and states', async () => {
    const { page } = await look();
    const heard = await page.locator('body').ariaSnapshot();
    for (const words of [
      'heading "gpu-01" [level=1]',
      'heading "Card 2 Free" [level=3]',
      'heading "Card 6 Unhealthy" [level=3]',
      'heading "Probes" [level=2]',
      'heading "Last decisions" [level=2]',
      'navigation "More of this gate"',
    ]) {
      expect(heard).toContain(words);
    }
  });

  test('reaches every link by keyboard, and the links lead somewhere', async () => {
    const { gate, page } = await look();
    const reached: string[] = [];
    for (let tabs = 0; tabs < 4; tabs += 1) {
      await page.keyboard.press('Tab');
      reached.push(await page.evaluate(() => document.activeElement?.textContent ?? ''));
    }
    expect(reached).toEqual(['Metrics', 'Readiness', 'OpenAPI', 'README']);
    for (const path of ['metrics', 'readyz', 'openapi.json', 'README.md']) {
      expect((await fetch(`${gate.url}/${path}`)).status).toBe(200);
    }
  });
});

describe('the picture for the README', () => {
  const place = fileURLToPath(new URL('../../src/page/gate.png', import.meta.url));

  test('is there, and made anew with GATE_PICTURE=1', async () => {
    if (process.env['GATE_PICTURE'] === '1') {
      const { page } = await look({}, { deviceScaleFactor: 1.5 });
      await page.screenshot({ path: place, fullPage: true });
    }
    expect(existsSync(place)).toBe(true);
    expect(readFileSync(place).subarray(1, 4).toString()).toBe('PNG');
  });
});
