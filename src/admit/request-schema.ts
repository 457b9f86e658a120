/**
 * The schema of a request to `/admit`: what each field must look like under any policy. The OpenAPI document is generated
 * from it.
 */

import { z } from 'zod';
import { strictObject } from '../http/strict-object.js';

/** The largest body in bytes: well above any sane request, and small enough to buffer before validation. */
export const BODY_LIMIT_BYTES = 256 * 1024;

/** Linux limits one argument or variable to 128 KiB, its terminating NUL included (MAX_ARG_STRLEN). */
const ARGUMENT_CHARACTERS = 131_071;
/** Docker refuses less: "Minimum memory limit allowed is 6MB". */
const LEAST_MEMORY_BYTES = 6 * 1024 * 1024;
const PAGE_BYTES = 4_096;

const ULIMIT = /^(?:core|cpu|data|fsize|locks|memlock|msgqueue|nice|nofile|nproc|rss|rtprio|rttime|sigpending|stack)$/;

/** The ulimits that a request may set. */
export const ULIMIT_NAMES: readonly string[] = ULIMIT.source.slice('^(?:'.length, -')$'.length).split('|');

/**
 * What Docker accepts as an image: `[registry[:port]/]name[/name…][:tag][@digest]`. The length of tag and digest is checked
 * separately.
 */
const IMAGE =
  /^(?:[A-Za-z0-9]+(?:[.-]+[A-Za-z0-9]+)*(?::[0-9]{1,5})?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]*)?(?:@sha256:[0-9a-f]+)?$/;
const IMAGE_EXPECTED = "an image's name as docker pull takes it, its repository in lower case";
const TAG_CHARACTERS = 128;
const DIGEST_DIGITS = 64;

/** Runs no pattern on a text that is too long: zod goes on to the next check unless told to `abort`. */
const matching = (pattern: RegExp, most: number, expected: string): z.ZodString => {
  const error = `expected ${expected}`;
  return z.string({ error }).max(most, { error, abort: true }).regex(pattern, { error });
};

/** Text without NUL, at which the kernel would cut it off. */
const text = (most: number, expected: string): z.ZodString =>
  matching(/^[^\0]*$/, most, `${expected} of at most ${most} characters, without NUL`);

const whole = (least: number, most: number, expected: string): z.ZodInt => {
  const error = `expected ${expected}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
};

const list = <Item extends z.ZodType>(item: Item, most: number, expected: string): z.ZodArray<Item> => {
  const error = `expected a list of at most ${most} ${expected}`;
  return z.array(item, { error }).max(most, { error });
};

const absolute = (expected: string): z.ZodString =>
  matching(/^\/[^\0]*$/, 4_096, `an absolute path ${expected} of at most 4096 characters`);

const port = whole(1, 65_535, 'a port from 1 to 65535');
const bytes = (least: number, expected: string): z.ZodInt => whole(least, Number.MAX_SAFE_INTEGER, expected);
const target = matching(/^\/+[^\0/][^\0]*$/, 4_096, 'an absolute path in the container, other than /');
const readOnly = z.boolean({ error: 'expected true or false' }).optional();

const bind = strictObject({
  type: z.literal('bind'),
  source: absolute('on this machine'),
  target,
  read_only: readOnly,
});
const volume = strictObject({
  type: z.literal('volume'),
  source: matching(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{1,254}$/,
    255,
    "a volume's name of letters, digits, _ . and -, at least two",
  ),
  target,
  read_only: readOnly,
});

const container = strictObject({
  image: matching(IMAGE, 512, IMAGE_EXPECTED).refine(hasWholeEnds, { error: `expected ${IMAGE_EXPECTED}` }),
  command: list(text(ARGUMENT_CHARACTERS, 'an argument'), 4_096, 'arguments').optional(),
  entrypoint: list(text(ARGUMENT_CHARACTERS, 'an argument'), 4_096, 'arguments')
    .min(1, 'expected at least one')
    .optional(),
  env: z
    .record(
      matching(/^[A-Za-z_][A-Za-z0-9_]*$/, 1_024, 'a name of letters, digits and _ that does not start with a digit'),
      text(ARGUMENT_CHARACTERS, 'a string'),
      { error: 'expected an object of strings' },
    )
    .optional(),
  working_dir: absolute('in the container').optional(),
  user: matching(
    /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?::[A-Za-z0-9_][A-Za-z0-9_.-]*)?$/,
    128,
    'a user as "uid", "uid:gid", "name" or "name:group"',
  ).optional(),
  shm_bytes: bytes(PAGE_BYTES, `a whole number of bytes, ${PAGE_BYTES} or more`).optional(),
  memory_bytes: bytes(LEAST_MEMORY_BYTES, `a whole number of bytes, ${LEAST_MEMORY_BYTES} (6 MiB) or more`).optional(),
  cpus: z
    .number({ error: 'expected a number of CPUs from 0.01 to 4096' })
    .min(0.01, 'expected a number of CPUs from 0.01 to 4096')
    .max(4_096, 'expected a number of CPUs from 0.01 to 4096')
    .optional(),
  mounts: list(
    z.discriminatedUnion('type', [bind, volume], { error: 'expected a mount with the type "bind" or "volume"' }),
    64,
    'mounts',
  ).optional(),
  network: matching(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, 128, "a network's name of letters, digits, _ . and -").optional(),
  labels: z
    .record(matching(/^[^\0\s=][^\0=]*$/, 255, 'a name of 1 to 255 characters, without "="'), text(4_096, 'a string'), {
      error: 'expected an object of strings',
    })
    .optional(),
  ulimits: z
    .record(
      matching(ULIMIT, 16, `one of ${ULIMIT.source.slice('^(?:'.length, -')$'.length).replaceAll('|', ', ')}`),
      whole(-1, Number.MAX_SAFE_INTEGER, 'a whole number of 0 or more, or -1 for unlimited'),
      { error: 'expected an object of numbers' },
    )
    .optional(),
  ports: list(strictObject({ container: port, host: port }), 64, 'ports').optional(),
  devices: list(
    matching(/^\/dev\/[A-Za-z0-9_,.@+/-]+$/, 255, 'the path of a device below /dev'),
    64,
    'devices',
  ).optional(),
  cap_add: list(matching(/^[A-Z][A-Z_0-9]*$/, 64, 'a capability such as IPC_LOCK'), 64, 'capabilities').optional(),
  init: z
    .boolean('expected true or false')
    .describe('False for an image whose own init must be process 1; true where it is left out.')
    .optional(),
  ipc: z
    .enum(['none', 'private', 'shareable', 'host'], { error: 'expected "private", "shareable" or "none"' })
    .optional(),
});

/** What applies to a plain process. It has no image with a default command, so `command` is required. */
const processContainer = strictObject({
  command: container.shape.command.unwrap().min(1, 'expected at least the program'),
  env: container.shape.env,
  working_dir: absolute('of a folder on this machine').optional(),
});

const base = {
  run_id: matching(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/,
    63,
    'a name of 1 to 63 letters, digits, _ . and -, the first a letter or digit',
  ),
  count: whole(0, Number.MAX_SAFE_INTEGER, 'a whole number of cards, 0 or more, as a JSON number'),
};

/**
 * `run_id`, `count` and `container`; nothing else. `count` has no default: a request that forgets it must get neither a card
 * nor zero cards.
 */
export const admitRequest = strictObject({ ...base, container });

export type AdmitBody = z.infer<typeof admitRequest>;

/** The same for a gate that starts plain processes (`TUNEPLANE_RUNTIME=process`). */
export const processAdmitRequest = strictObject({ ...base, container: processContainer });

export type ProcessAdmitBody = z.infer<typeof processAdmitRequest>;

/** The keys of `container` that only the Docker runtime supports. */
export const DOCKER_ONLY: ReadonlySet<string> = new Set(
  Object.keys(container.shape).filter((key) => !(key in processContainer.shape)),
);

/** Whether a tag is not too long and a digest is complete, where present. */
function hasWholeEnds(image: string): boolean {
  const [name = '', digest] = image.split('@sha256:');
  const tag = name.split('/').at(-1)?.split(':')[1] ?? '';
  return tag.length <= TAG_CHARACTERS && (digest === undefined || digest.length === DIGEST_DIGITS);
}
