import { z } from 'zod';
import type { Pinned } from '../../model/snapshot.js';

/**
 * Which cards a container was given, from its inspect.
 *
 * A device request takes precedence over the environment: the engine overwrites `NVIDIA_VISIBLE_DEVICES` with it (measured).
 * `Count: n` without ids means cards 0 to n-1 (moby, `countToDevices`; measured), -1 means all. The environment counts under
 * any runtime: the inspect does not show whether a hook obeys it. A container with every device of the machine (privileged)
 * can reach all cards.
 */
export function parsePinned(body: unknown): Pinned {
  const parsed = inspectBody.safeParse(body);
  if (!parsed.success)
    return { kind: 'not_told', detail: `its inspect made no sense: ${z.prettifyError(parsed.error)}` };
  const host = parsed.data.HostConfig;
  const asked = [
    ...(host.DeviceRequests ?? []).flatMap(fromRequest),
    ...(host.Devices ?? []).flatMap((device) => cdiIds(device.PathOnHost ?? '')),
    ...Object.entries(host.Annotations ?? {}).flatMap(([key, value]) =>
      key.startsWith('cdi.k8s.io/') ? cdiIds(value) : [],
    ),
  ];
  const ids = asked.length > 0 ? asked : fromEnvironment(parsed.data.Config?.Env ?? []);
  if (ids.includes('all')) return { kind: 'all' };
  if (ids.length > 0) return { kind: 'some', ids: [...new Set(ids)] };
  if (host.Privileged === true) return { kind: 'all' };
  const minor = (host.Devices ?? []).find((device) => /^\/dev\/nvidia\d+$/.test(device.PathOnHost ?? ''));
  if (minor === undefined) return { kind: 'none' };
  return {
    kind: 'not_told',
    detail: `${minor.PathOnHost} is mapped into it: a minor number, which does not tell the card`,
  };
}

const inspectBody = z.object({
  Config: z.object({ Env: z.array(z.string()).nullish() }).nullish(),
  HostConfig: z.object({
    DeviceRequests: z
      .array(
        z.object({
          Driver: z.string().nullish(),
          Count: z.number().nullish(),
          DeviceIDs: z.array(z.string()).nullish(),
          Capabilities: z.array(z.array(z.string())).nullish(),
        }),
      )
      .nullish(),
    Devices: z.array(z.object({ PathOnHost: z.string().nullish() })).nullish(),
    Annotations: z.record(z.string(), z.string()).nullish(),
    Privileged: z.boolean().nullish(),
  }),
});
type DeviceRequest = NonNullable<z.infer<typeof inspectBody>['HostConfig']['DeviceRequests']>[number];

function fromRequest(request: DeviceRequest): readonly string[] {
  const listed = request.DeviceIDs ?? [];
  if (request.Driver === 'cdi') return listed.flatMap(cdiIds);
  const forGpus = request.Driver === 'nvidia' || (request.Capabilities ?? []).flat().includes('gpu');
  if (!forGpus) return [];
  const count = request.Count ?? 0;
  if (count < 0) return ['all'];
  if (listed.length > 0) return listed.flatMap(idsIn);
  return Array.from({ length: Math.min(count, MOST_CARDS) }, (_, index) => String(index));
}

/** More cards than any machine has, so that a nonsense count cannot exhaust memory. */
const MOST_CARDS = 1024;

function fromEnvironment(env: readonly string[]): readonly string[] {
  const prefix = 'NVIDIA_VISIBLE_DEVICES=';
  const last = env.findLast((entry) => entry.startsWith(prefix));
  return last === undefined ? [] : idsIn(last.slice(prefix.length));
}

/** `0,1`, `GPU-…`, `all`, or CDI names; `void`, `none` and an empty text name no card. */
function idsIn(list: string): readonly string[] {
  const ids = list.split(',').map((id) => id.trim().replace(CDI_NAME, ''));
  return ids.filter((id) => id !== '' && id !== 'void' && id !== 'none');
}

function cdiIds(list: string): readonly string[] {
  return list.split(',').some((name) => CDI_NAME.test(name.trim())) ? idsIn(list) : [];
}

/** `nvidia.com/gpu=`, and the toolkit's own `runtime.nvidia.com/gpu=` and similar. */
const CDI_NAME = /^(?:[a-z]+\.)?nvidia\.com\/gpu=/;
