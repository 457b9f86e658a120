import type { Log } from '../model/ports/outside.js';

/** For parts that log, where a finding reports the same. */
export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
