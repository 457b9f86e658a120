import type { Log } from '../model/ports/outside.js';

/** For parts that log: what they would say is said by a finding. */
export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
