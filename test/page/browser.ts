import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';

/** Problems in the reader's browser: each list must stay empty. */
export interface Trouble {
  /** What the Content-Security-Policy blocked. */
  readonly violations: readonly string[];
  /** Exceptions of the script, and console errors other than those of an unreachable gate. */
  readonly errors: readonly string[];
}

export type Reader = Page & { readonly trouble: Trouble };

/** A headless Chromium for this test file: started before the first test, its pages closed after each. */
export function browserForThisFile(): { open(url: string, as?: BrowserContextOptions): Promise<Reader> } {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: [...FLAGS] });
  });
  afterAll(() => browser?.close());
  // An open page keeps polling and drawing.
  afterEach(async () => void (await Promise.all(browser?.contexts().map((context) => context.close()) ?? [])));
  return {
    async open(url, as = {}) {
      if (browser === undefined) throw new Error('no browser was started');
      const context = await browser.newContext({ viewport: DESK, ...as });
      const page = await context.newPage();
      const trouble = await watchTrouble(page);
      // The clock runs by itself; a test can advance it instead of waiting for the page's next request.
      await page.clock.install();
      await page.goto(url);
      return Object.assign(page, { trouble });
    },
  };
}

export const DESK = { width: 1280, height: 960 };
export const PHONE = { width: 360, height: 740 };

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

async function watchTrouble(page: Page): Promise<Trouble> {
  const violations: string[] = [];
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    const text = message.text();
    // The browser's own message about a failed request, or about a status that the page handles.
    if (!text.startsWith('Failed to load resource')) errors.push(text);
  });
  await page.exposeFunction('toldViolation', (what: string) => void violations.push(what));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
      const { toldViolation } = globalThis as unknown as { toldViolation(what: string): void };
      toldViolation(`${violatedDirective} ${blockedURI} ${sample}`);
    });
  });
  return { violations, errors };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResults {
  readonly violations: readonly { id: string; impact: string; nodes: readonly { html: string }[] }[];
}

/** The accessibility problems that axe finds: each with its rule and the elements. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
