import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** Prints `N passed, N failed` alone on the very last line, for a reader of the log's end. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const line = closingLine(modules, unhandled.length);
    // At exit, since the default reporter is still printing its summary now.
    process.once('exit', () => process.stdout.write(`${line}\n`));
  }
}

/** A file that could not be collected, and an error outside every test, count as failures too. */
function closingLine(modules: readonly TestModule[], unhandled: number): string {
  const states = modules.flatMap((module) => Array.from(module.children.allTests(), (test) => test.result().state));
  const count = (state: string) => states.filter((each) => each === state).length;
  const broken = modules.filter((module) => module.errors().length > 0).length;
  const skipped = count('skipped') + count('pending');
  const failed = count('failed') + broken + unhandled;
  return `${count('passed')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
