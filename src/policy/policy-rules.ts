/** What a policy file may contain, and the defaults for the rest. */

import { z } from 'zod';
import { ULIMIT_NAMES } from '../admit/request-schema.js';
import { strictObject } from '../http/strict-object.js';
import { FORBIDDEN_PATHS } from './forbidden-paths.js';

/** Every rule, defaults filled in; undefined means "no bound". */
export interface PolicyRules {
  readonly images: readonly string[];
  /** A root that ends in `/*` makes each folder in it a root. */
  readonly mounts: readonly { readonly root: string; readonly readOnly: boolean }[];
  readonly volumes: readonly string[];
  readonly networks: readonly string[];
  readonly users: readonly string[];
  readonly ports: readonly { readonly from: number; readonly to: number }[];
  readonly devices: readonly string[];
  readonly capAdd: readonly string[];
  readonly ipc: readonly string[];
  /** The label names that a request may set, except those that are always refused. */
  readonly labels: readonly string[];
  readonly max: {
    readonly memoryBytes?: number | undefined;
    readonly cpus?: number | undefined;
    readonly shmBytes?: number | undefined;
    readonly pids: number;
    readonly cards?: number | undefined;
    /** By name; applies to soft and hard limit. */
    readonly ulimits: Readonly<Record<string, number>>;
  };
  readonly defaults: {
    readonly shmBytes: number;
    readonly memoryBytes?: number | undefined;
    readonly cpus?: number | undefined;
    readonly user?: string | undefined;
  };
}

const PIDS = 32_768;
/** Training processes share batches through it; Docker's own 64 MiB breaks the first data loader. */
const SHM_BYTES = 8 * 1024 ** 3;

const patterns = z.array(
  z.string('expected a pattern').min(1, 'expected a pattern of at least one character'),
  'expected a list of patterns, in which * stands for any characters',
);

const bytes = z.int('expected a whole number of bytes').min(1, 'expected a whole number of bytes above 0');
const cpus = z.number('expected a number of CPUs').min(0.01, 'expected a number of CPUs, 0.01 or more');

const range = z
  .union(
    [z.int().min(1).max(65_535), z.string().regex(/^\d{1,5}(?:-\d{1,5})?$/)],
    'expected a port, or a range such as "18000-18999", from 1 to 65535',
  )
  .refine(
    (said) => isRange(said),
    'expected a port, or a range such as "18000-18999", from 1 to 65535, the lower first',
  );

const root = z
  .string('expected an absolute path')
  .startsWith('/', 'expected an absolute path')
  .refine(
    (path) => !withoutEach(path).includes('*'),
    'expected a path in which * stands, if at all, for its whole last part: "/data/*" makes each folder in /data a root',
  )
  .refine(
    (path) => !FORBIDDEN_PATHS.some((forbidden) => isAtOrBelow(forbidden, path)) && !/^\/*$/.test(withoutEach(path)),
    `expected a folder for data; never /, ${FORBIDDEN_PATHS.join(', ')}`,
  );

/** The file itself. Unknown keys are refused: a misspelt rule would bound nothing. */
export const policyFile = strictObject({
  images: patterns.optional(),
  mounts: z
    .array(strictObject({ root, read_only: z.boolean('expected true or false').optional() }), 'expected a list')
    .optional(),
  volumes: patterns.optional(),
  networks: patterns.refine((names) => !names.includes('host'), 'host namespaces are never given to a job').optional(),
  users: patterns.optional(),
  ports: z.array(range, 'expected a list').optional(),
  devices: z
    .array(
      z
        .string('expected a path')
        .regex(/^\/dev\/./, 'expected a path below /dev, in which * stands for any characters'),
    )
    .optional(),
  cap_add: z
    .array(
      z
        .string('expected a capability')
        .regex(/^[A-Z][A-Z_0-9]*$/, 'expected a capability such as IPC_LOCK')
        .refine(
          (name) => name !== 'ALL' && name !== 'CAP_ALL',
          'expected the capabilities by name; ALL would lift every bound',
        ),
    )
    .optional(),
  ipc: z
    .array(
      z.enum(
        ['private', 'shareable', 'none'],
        'expected "private", "shareable" or "none"; the host\'s is never given to a job',
      ),
    )
    .optional(),
  labels: patterns.optional(),
  max: strictObject({
    memory_bytes: bytes.optional(),
    cpus: cpus.optional(),
    shm_bytes: bytes.optional(),
    pids: z.int('expected a whole number').min(1, 'expected a whole number above 0').optional(),
    cards: z.int('expected a whole number').min(0, 'expected a whole number, 0 or more').optional(),
    ulimits: z
      .record(
        z.string().refine((name) => ULIMIT_NAMES.includes(name), `expected one of ${ULIMIT_NAMES.join(', ')}`),
        z.int('expected a whole number').min(0, 'expected a whole number, 0 or more'),
        'expected an object of numbers',
      )
      .optional(),
  }).optional(),
  defaults: strictObject({
    shm_bytes: bytes.optional(),
    memory_bytes: bytes.optional(),
    cpus: cpus.optional(),
    user: z.string('expected a user').min(1, 'expected a user').optional(),
  }).optional(),
});

/** The rules of a file; an empty file gives the same rules as none. */
export function rulesFrom(file: z.infer<typeof policyFile>): PolicyRules {
  const max = file.max ?? {};
  const defaults = file.defaults ?? {};
  return {
    images: file.images ?? ['*'],
    mounts: (file.mounts ?? []).map(({ root: path, read_only }) => ({ root: path, readOnly: read_only ?? false })),
    volumes: file.volumes ?? ['*'],
    networks: file.networks ?? ['bridge', 'none'],
    users: file.users ?? ['*'],
    ports: (file.ports ?? []).map(toRange),
    devices: file.devices ?? [],
    capAdd: (file.cap_add ?? []).map((name) => name.replace(/^CAP_/, '')),
    ipc: file.ipc ?? ['private'],
    labels: file.labels ?? ['*'],
    max: {
      memoryBytes: max.memory_bytes,
      cpus: max.cpus,
      shmBytes: max.shm_bytes,
      pids: max.pids ?? PIDS,
      cards: max.cards,
      ulimits: max.ulimits ?? {},
    },
    defaults: {
      shmBytes: defaults.shm_bytes ?? Math.min(SHM_BYTES, max.shm_bytes ?? SHM_BYTES),
      memoryBytes: defaults.memory_bytes,
      cpus: defaults.cpus,
      user: defaults.user,
    },
  };
}

/** The rules without a policy file. */
export const RULES_WITHOUT_A_FILE: PolicyRules = rulesFrom({});

/** Whether `path` is `folder` or lies below it; both as written. */
export function isAtOrBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function withoutEach(path: string): string {
  return path.endsWith('/*') ? path.slice(0, -2) : path;
}

function toRange(said: number | string): { from: number; to: number } {
  const [from, to] = String(said).split('-').map(Number);
  return { from: from ?? 0, to: to ?? from ?? 0 };
}

function isRange(said: number | string): boolean {
  const { from, to } = toRange(said);
  return from >= 1 && from <= to && to <= 65_535;
}
