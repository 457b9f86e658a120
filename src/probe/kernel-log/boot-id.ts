import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Changes with each boot; the same in every container of a machine. Where the kernel does not report it, differs at each
 * call.
 */
export function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return randomUUID();
  }
}
