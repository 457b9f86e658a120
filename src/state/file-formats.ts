/** How the files of the state folder are serialized and parsed. */

import { z } from 'zod';
import { cardIndex, cardUuid } from '../model/card.js';
import type { KeptPlace } from '../model/line.js';
import type { XidRecord } from '../model/ports/xid-store.js';
import type { Exclusion, RememberedCard } from '../model/snapshot.js';

/** How entries of one kind are serialized and parsed. `parse` throws on anything but a complete file of this version. */
export interface FileFormat<Entry> {
  readonly fileName: string;
  print(entries: readonly Entry[]): string;
  parse(text: string): readonly Entry[];
}

const uuid = z.string().min(1).transform(cardUuid);

/** The cards seen before. */
export const REMEMBERED_CARDS: FileFormat<RememberedCard> = fileFormat(
  'cards-seen.json',
  z.strictObject({
    uuid,
    index: z.int().min(0).transform(cardIndex),
    // Earlier versions wrote an empty text where no name was known.
    name: z
      .string()
      .nullable()
      .transform((name) => (name === '' ? null : name)),
    pciBusId: z.string(),
  }),
);

/** An exclusion as its file has it. */
export type KeptExclusion = Omit<Exclusion, 'until'>;
/** When one of them ends: it is the one of this card with the same `since`. */
export type ExclusionEnd = Pick<Exclusion, 'uuid' | 'since'> & { readonly until: string };

/** The cards that an operator took out. */
export const EXCLUSIONS: FileFormat<KeptExclusion> = fileFormat(
  'exclusions.json',
  z.strictObject({ uuid, reason: z.string(), since: z.iso.datetime(), principal: z.string() }),
);

/**
 * The ends of exclusions, in a file of their own: a gate of an earlier version refuses a key that it does not know, would set
 * the whole file aside, and hand out every card that is in it. It passes this file over, and to it no exclusion ends.
 */
export const EXCLUSION_ENDS: FileFormat<ExclusionEnd> = fileFormat(
  'exclusion-ends.json',
  z.strictObject({ uuid, since: z.iso.datetime(), until: z.iso.datetime() }),
);

/** The line of waiting runs. */
export const LINE: FileFormat<KeptPlace> = fileFormat(
  'line.json',
  z.strictObject({
    runId: z.string().min(1),
    specSha256: z.string().min(1),
    count: z.int().min(1),
    principal: z.string(),
    image: z.string(),
    labels: z.record(z.string(), z.string()),
    since: z.iso.datetime(),
    imageHere: z.boolean(),
  }),
);

/** What was processed of the kernel's log; one entry. */
export const XID_RECORD: FileFormat<XidRecord> = fileFormat(
  'xids.json',
  z.strictObject({
    bootId: z.string(),
    upTo: z.number(),
    findings: z.array(
      z.strictObject({ uuid: z.string().nullable(), slot: z.string(), code: z.int(), line: z.string() }),
    ),
  }),
);

function fileFormat<Entry>(fileName: string, entry: z.ZodType<Entry>): FileFormat<Entry> {
  const file = z.strictObject({ version: z.literal(1), entries: z.array(entry) });
  return {
    fileName,
    print: (entries) => `${JSON.stringify({ version: 1, entries }, null, 2)}\n`,
    parse(text) {
      const parsed = file.safeParse(JSON.parse(text));
      if (!parsed.success) throw new Error(z.prettifyError(parsed.error).replaceAll('\n', ' '));
      return parsed.data.entries;
    },
  };
}
