/** What `nvidia-smi -L` says about each card. */

import { cardIndex, type CardIndex } from '../../model/card.js';
import type { BrokenCard } from '../../model/snapshot.js';
import { clean, isDenied } from './cell.js';

/** The parsed `nvidia-smi -L`: the working cards, and those that the driver reports as broken. */
export interface Listed {
  readonly indices: readonly CardIndex[];
  readonly broken: readonly BrokenCard[];
}

/**
 * Parses `nvidia-smi -L`. A healthy card is `GPU 4: …`, with its true index; a broken one has the driver's message in its
 * place. A broken card's index follows from its position, where its neighbours leave exactly enough room. MIG lines are
 * indented and are no cards.
 */
export function parseList(text: string): Listed {
  const indices: CardIndex[] = [];
  const complaints: Complaint[] = [];
  for (const line of text.split(/\r?\n|\r/)) {
    const healthy = /^GPU (\d+): /.exec(line)?.[1];
    const complaint = healthy === undefined ? toComplaint(line, indices.length) : null;
    if (healthy !== undefined) indices.push(cardIndex(Number(healthy)));
    else if (complaint !== null) complaints.push(complaint);
    else goOn(complaints.at(-1), line, indices.length);
  }
  return { indices, broken: complaints.map((complaint) => toBroken(complaint, complaints, indices)) };
}

/** A PCI address in the form of `pci.bus_id`: `0000:4e:00.0` is `00000000:4E:00.0`. */
export function normalBusId(address: string): string {
  const [domain = '', ...rest] = address.toUpperCase().split(':');
  return [domain.padStart(8, '0'), ...rest].join(':');
}

/** `after`: how many healthy cards were listed before it. */
interface Complaint {
  readonly after: number;
  readonly pciBusId: string | null;
  readonly words: string[];
}

function toComplaint(line: string, after: number): Complaint | null {
  // `…for gpu 0000:4E:00.0: GPU is lost`; newer branches write `GPU0000:4E:00.0` without a space.
  const address = /([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]):([^]*)/i.exec(line);
  if (address !== null) return { after, pciBusId: normalBusId(address[1] ?? ''), words: [clean(address[2] ?? '')] };
  const nameless = /^Unable to determine\b[^:]*:([^]+)/i.exec(line)?.[1];
  return nameless === undefined ? null : { after, pciBusId: null, words: [clean(nameless)] };
}

/** Some messages continue on the next lines, and end in blank ones or in a lone full stop. */
function goOn(complaint: Complaint | undefined, line: string, listed: number): void {
  const words = clean(line);
  if (complaint !== undefined && complaint.after === listed && /\w/.test(words)) complaint.words.push(words);
}

function toBroken(complaint: Complaint, all: readonly Complaint[], indices: readonly CardIndex[]): BrokenCard {
  const words = clean(complaint.words.join(' '));
  return { index: placeOf(complaint, all, indices), pciBusId: complaint.pciBusId, words, denied: isDenied(words) };
}

function placeOf(complaint: Complaint, all: readonly Complaint[], indices: readonly CardIndex[]): CardIndex | null {
  const together = all.filter((other) => other.after === complaint.after);
  const before: number = complaint.after === 0 ? -1 : (indices[complaint.after - 1] ?? -1);
  const next = indices[complaint.after];
  const room = next === undefined ? together.length : next - before - 1;
  return room === together.length ? cardIndex(before + 1 + together.indexOf(complaint)) : null;
}
