/** From the arguments of `gpu-gate run` to a request, or everything that is wrong with them. Pure. */

export interface RunFlags {
  readonly cards?: string;
  readonly name?: string;
  readonly env?: readonly string[];
  readonly volume?: readonly string[];
  readonly user?: string;
  readonly workdir?: string;
  readonly entrypoint?: string;
  readonly network?: string;
  readonly ipc?: string;
  readonly cpus?: string;
  readonly memoryBytes?: string;
  readonly shmBytes?: string;
  readonly label?: readonly string[];
  readonly ulimit?: readonly string[];
  readonly publish?: readonly string[];
  readonly device?: readonly string[];
  readonly capAdd?: readonly string[];
  /** False: `--no-init`. */
  readonly init?: boolean;
}

/** What names a run that nobody named. */
export interface Namer {
  readonly user: string;
  /** A few letters that no two runs share. */
  readonly letters: string;
  /** A variable of the caller, for `-e NAME` without a value. */
  readonly variable: (name: string) => string | undefined;
}

export type RunRequest =
  | { readonly kind: 'request'; readonly runId: string; readonly body: string }
  | { readonly kind: 'problem'; readonly details: readonly string[] };

/** What the gate has to say of the values is the gate's to say; only what cannot be turned into a request is refused here. */
export function runRequest(image: string, command: readonly string[], flags: RunFlags, namer: Namer): RunRequest {
  const details: string[] = [];
  const number = (flag: string, text: string | undefined): number | undefined => {
    if (text === undefined) return undefined;
    if (!/^\d{1,15}(\.\d{1,6})?$/.test(text)) details.push(`--${flag} is ${JSON.stringify(text)}: expected a number`);
    return Number(text);
  };
  const pairs = (flag: string, texts: readonly string[] = []): readonly (readonly [string, string])[] =>
    texts.flatMap((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [[text.slice(0, at), text.slice(at + 1)] as const];
      details.push(`--${flag} is ${JSON.stringify(text)}: expected NAME=VALUE`);
      return [];
    });
  const env = pairs(
    'env',
    flags.env?.flatMap((text) => withValue(text, namer)),
  );
  const runId = flags.name ?? nameOf(image, namer);
  const container = {
    image,
    command: command.length === 0 ? undefined : command,
    env: env.length === 0 ? undefined : Object.fromEntries(env),
    entrypoint: flags.entrypoint === undefined ? undefined : [flags.entrypoint],
    working_dir: flags.workdir,
    user: flags.user,
    network: flags.network,
    ipc: flags.ipc,
    cpus: number('cpus', flags.cpus),
    memory_bytes: number('memory-bytes', flags.memoryBytes),
    shm_bytes: number('shm-bytes', flags.shmBytes),
    mounts: given(flags.volume)?.flatMap((text) => mountOf(text, details)),
    labels: given(flags.label) && Object.fromEntries(pairs('label', flags.label)),
    ulimits:
      given(flags.ulimit) &&
      Object.fromEntries(pairs('ulimit', flags.ulimit).map(([name, value]) => [name, Number(value)])),
    ports: given(flags.publish)?.flatMap((text) => portOf(text, details)),
    devices: given(flags.device),
    cap_add: given(flags.capAdd),
    init: flags.init === false ? false : undefined,
  };
  const request = { run_id: runId, count: number('cards', flags.cards ?? '1'), container };
  return details.length > 0 ? { kind: 'problem', details } : { kind: 'request', runId, body: JSON.stringify(request) };
}

function given<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list === undefined || list.length === 0 ? undefined : list;
}

/** `-e NAME` takes the caller's value, and nothing where there is none, as Docker does. */
function withValue(text: string, { variable }: Namer): readonly string[] {
  if (text.includes('=')) return [text];
  const value = variable(text);
  return value === undefined ? [] : [`${text}=${value}`];
}

/** `SOURCE:TARGET[:ro]`: a folder of the machine where the source begins with a slash, else a volume. */
function mountOf(text: string, details: string[]): readonly object[] {
  const [source = '', target = '', mode, ...more] = text.split(':');
  if (source === '' || target === '' || more.length > 0 || ![undefined, 'ro', 'rw'].includes(mode)) {
    details.push(`--volume is ${JSON.stringify(text)}: expected SOURCE:TARGET or SOURCE:TARGET:ro`);
    return [];
  }
  return [{ type: source.startsWith('/') ? 'bind' : 'volume', source, target, read_only: mode === 'ro' }];
}

/** `HOST:CONTAINER`, as Docker writes it. */
function portOf(text: string, details: string[]): readonly object[] {
  const [, host, container] = /^(\d{1,5}):(\d{1,5})$/.exec(text) ?? [];
  if (host !== undefined && container !== undefined) return [{ host: Number(host), container: Number(container) }];
  details.push(`--publish is ${JSON.stringify(text)}: expected HOST:CONTAINER, two ports`);
  return [];
}

/** User, image and a few letters, in the characters that a run id may have. */
function nameOf(image: string, { user, letters }: Namer): string {
  const last = image.split('/').at(-1) ?? '';
  const bare = last.split(/[:@]/)[0] ?? '';
  return `${short(user, 20)}-${short(bare, 30)}-${letters}`.replace(/^[^A-Za-z0-9]+/, '');
}

function short(text: string, most: number): string {
  return text.replaceAll(/[^A-Za-z0-9_.-]+/g, '-').slice(0, most);
}
