import { XID_CODES, type XidCode } from '../../src/model/xid.js';

/** The Xids that have a verdict as a Markdown table for the runbook, each with the source of it. */
export function xidsTable(): string {
  const head = ['Xid', 'what it is', 'what it does', 'source of the verdict'];
  const rows = XID_CODES.map(({ code, what, verdict, source }) => [String(code), what, DOES[verdict], SOURCES[source]]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

const DOES: Record<XidCode['verdict'], string> = { hardware: 'takes the card out', application: 'is counted' };

const SOURCES: Record<XidCode['source'], string> = {
  catalog: "[NVIDIA's Xid catalogue](https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html)",
  plugin: "[NVIDIA's device plugin](https://github.com/NVIDIA/k8s-device-plugin) keeps the card in use",
};
