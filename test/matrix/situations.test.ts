import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { machineOf, scenarioNames } from '../stand-in/scenarios.js';
import { watchMachine } from './watched-machine.js';
import { writtenDown } from './written-down.js';

/**
 * Every situation in which NVIDIA's own program was captured, on every driver branch: what the gate makes of it, to the last
 * series of the page. `npm run readme` writes the files anew; whoever does that reads them.
 */

const DRIVERS = ['470.256.02', '535.261.03', '550.163.01'];
/** Some columns and some cards are not of every time. */
const ONLY_ON: Readonly<Record<string, readonly string[]>> = {
  'geforce-gt730-old': ['470.256.02'],
  'reset-required-field': ['535.261.03', '550.163.01'],
  'geforce-rtx4090-ecc-off': ['535.261.03', '550.163.01'],
};
const driversOf = (situation: string): readonly string[] => ONLY_ON[situation] ?? DRIVERS;

/** All captures, where this checkout lies beside them. */
const CAPTURES = new URL('../../../shared/nvidia-smi/captures.jsonl', import.meta.url);

describe('what is made of a situation is what it was when it was last read by a person', () => {
  test.each(scenarioNames())('%s', async (situation) => {
    await expect(await matrixOf(situation)).toMatchFileSnapshot(`golden/${situation}.txt`);
  });

  test('and no file is of a situation that is not played', () => {
    const kept = readdirSync(new URL('golden/', import.meta.url)).map((name) => name.replace(/\.txt$/, ''));
    // What `columns.test.ts` keeps lies beside them.
    expect(kept.toSorted()).toEqual([...scenarioNames(), '_findings'].toSorted());
  });
});

test('the matrix has every situation that was captured, on every branch on which it was', () => {
  const ours = scenarioNames().flatMap((situation) => driversOf(situation).map((driver) => `${situation} ${driver}`));
  const captured = existsSync(CAPTURES)
    ? readFileSync(CAPTURES, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { scenario: string; driver: string })
        .map(({ scenario, driver }) => `${scenario} ${driver}`)
    : ['healthy-idle-8 550.163.01', 'gpu3-handle-lost 470.256.02', 'geforce-gt730-old 470.256.02'];
  expect(ours).toEqual(expect.arrayContaining(captured));
  expect(ours.length).toBe(existsSync(CAPTURES) ? new Set(captured).size : 116);
});

/** One section for all branches, and both kinds of memory, that give the same. */
async function matrixOf(situation: string): Promise<string> {
  const sections = new Map<string, string[]>();
  for (const driver of driversOf(situation)) {
    const healthy = watchMachine(machineIn('healthy-idle-8', situation, driver));
    await healthy.look();
    for (const [how, remembered] of [
      ['', []],
      [' after a healthy look', healthy.remembered()],
    ] as const) {
      const seen = await watchMachine(machineIn(situation, situation, driver), { remembered }).look();
      // The version stands on the info line of every card, and would keep equal branches apart.
      const text = writtenDown(seen).replaceAll(driver, '<driver>');
      sections.set(text, [...(sections.get(text) ?? []), `${driver}${how}`]);
    }
  }
  return Array.from(sections, ([text, who]) => `# ${who.join(', ')}\n${text}\n`).join('\n');
}

/** The machine of a situation; for `healthy-idle-8` the cards of `like` with nothing wrong with them. */
function machineIn(situation: string, like: string, driver: string) {
  const machine = machineOf(situation, driver);
  const cards = machineOf(like, driver)?.cards.length;
  if (machine === null || cards === undefined) throw new Error(`no machine for ${situation}`);
  machine.cards = machine.cards.slice(0, cards);
  return machine;
}
