/** Parses a metrics page, as far as the tests need it, and checks it with `promtool` too. */

import { execa } from 'execa';

/** Each series of the page (`name{labels}` as written) with its value as written. */
export function seriesOf(page: string): Map<string, string> {
  const series = new Map<string, string>();
  for (const line of page.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const end = line.lastIndexOf(' ');
    const name = line.slice(0, end);
    if (series.has(name)) throw new Error(`the page says ${name} twice`);
    series.set(name, line.slice(end + 1));
  }
  return series;
}

/** The result of `promtool check metrics` for the page: its exit code and its messages. */
export async function promtool(page: string): Promise<{ readonly code: number | undefined; readonly remarks: string }> {
  const said = await execa('promtool', ['check', 'metrics'], { input: page, reject: false, all: true });
  return { code: said.exitCode, remarks: said.all };
}
