import { z } from 'zod';
import type { Pinned } from '../../model/snapshot.js';
import { cardFiles, fromDevices, fromEnvironment, fromSwarm, fromVolumeMounts, idsIn, isCdi } from './pinned-forms.js';

/**
 * Which cards a container was given, from its inspect, in every form that NVIDIA's runtime takes
 * (https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html).
 *
 * A device request takes precedence over the environment: the engine overwrites `NVIDIA_VISIBLE_DEVICES` with it (measured).
 * `Count: n` without ids means cards 0 to n-1 (moby, `countToDevices`; measured), -1 means all. The environment counts under
 * any runtime: the inspect does not show whether a hook obeys it. Cards assigned by Swarm's scheduler count even where the image
 * says `all`. A container with every device of the machine (privileged) can reach all cards.
 */
export function parsePinned(body: unknown): Pinned {
  const parsed = inspectBody.safeParse(body);
  if (!parsed.success) return { kind: 'not_told', detail: `its inspect was invalid: ${z.prettifyError(parsed.error)}` };
  const { HostConfig: host, Config, Mounts } = parsed.data;
  const env = Config?.Env ?? [];
  const mounts = [...(Mounts ?? []), ...(host.Mounts ?? [])];
  const asked = [
    ...(host.DeviceRequests ?? []).flatMap(fromRequest),
    ...fromDevices((host.Devices ?? []).map((device) => device.PathOnHost ?? '')),
    ...cardFiles(mounts.map((mount) => mount.Source ?? '')),
    ...fromVolumeMounts(mounts.map((mount) => mount.Destination ?? mount.Target ?? '')),
    ...Object.entries({ ...host.Annotations, ...Config?.Annotations }).flatMap(([key, value]) =>
      key.startsWith('cdi.k8s.io/') && isCdi(value) ? idsIn(value) : [],
    ),
  ];
  const bySwarm = fromSwarm(env);
  const ids = [...(asked.length > 0 ? asked : fromEnvironment(env)), ...bySwarm];
  if (ids.includes('all') && bySwarm.length === 0) return { kind: 'all' };
  const named = [...new Set(ids)].filter((id) => id !== 'all');
  if (named.length > 0) return { kind: 'some', ids: named };
  return host.Privileged === true ? { kind: 'all' } : { kind: 'none' };
}

const mount = z.object({
  Source: z.string().nullish(),
  /** `Destination` in `Mounts`, `Target` in `HostConfig.Mounts`. */
  Destination: z.string().nullish(),
  Target: z.string().nullish(),
});
const annotations = z.record(z.string(), z.string()).nullish();
const inspectBody = z.object({
  Config: z.object({ Env: z.array(z.string()).nullish(), Annotations: annotations }).nullish(),
  Mounts: z.array(mount).nullish(),
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
    Mounts: z.array(mount).nullish(),
    Annotations: annotations,
    Privileged: z.boolean().nullish(),
  }),
});
type DeviceRequest = NonNullable<z.infer<typeof inspectBody>['HostConfig']['DeviceRequests']>[number];

function fromRequest(request: DeviceRequest): readonly string[] {
  const listed = request.DeviceIDs ?? [];
  if (request.Driver === 'cdi') return listed.filter(isCdi).flatMap(idsIn);
  const forGpus = request.Driver === 'nvidia' || (request.Capabilities ?? []).flat().includes('gpu');
  if (!forGpus) return [];
  const count = request.Count ?? 0;
  if (count < 0) return ['all'];
  if (listed.length > 0) return listed.flatMap(idsIn);
  return Array.from({ length: Math.min(count, MOST_CARDS) }, (_, index) => String(index));
}

/** More cards than any machine has, so that a nonsense count cannot exhaust memory. */
const MOST_CARDS = 1024;
