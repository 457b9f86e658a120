/** Findings about the Docker Engine. Pure: judges its answers. */

import type { EngineImage, EngineInfo, EngineVersion } from '../docker/engine-facts.js';
import type { Tried } from '../docker/try-device-request.js';
import type { Probed } from '../model/snapshot.js';
import { ok, skipped, unknown, warning, wrong, type Verdict } from './check.js';

/** Device requests came with API 1.40, Docker 19.03; an older engine drops them silently. */
const DEVICE_REQUESTS_SINCE = [1, 40] as const;

/** Whether an engine answers at the endpoint. */
export function judgeDocker(version: Probed<EngineVersion>, endpoint: string): Verdict {
  if (version.kind === 'seen') return ok(`${endpoint} answers, version ${version.value.version}`);
  const todo = /EACCES|EPERM/.test(version.detail)
    ? "add the gate's user to the group that owns the socket (usually docker), and start the gate anew"
    : 'start Docker (systemctl enable --now docker), or set DOCKER_HOST to its socket';
  return wrong(`${endpoint}: ${version.detail}`, todo);
}

/** Whether the engine supports device requests. */
export function judgeApi(version: Probed<EngineVersion>): Verdict {
  if (version.kind === 'blind') return notAsked();
  const { apiVersion } = version.value;
  const [major = 0, minor = 0] = apiVersion.split('.').map(Number);
  const [least, leastMinor] = DEVICE_REQUESTS_SINCE;
  if (major > least || (major === least && minor >= leastMinor))
    return ok(`API ${apiVersion}, which has device requests`);
  return wrong(
    `API ${apiVersion} has no device requests: jobs would start without cards`,
    'upgrade Docker to 19.03 or newer',
  );
}

/** Podman's socket accepts device requests and drops them (measured on 4.3), so the gate refuses to start on it. */
export function judgePodman(version: Probed<EngineVersion>): Verdict {
  if (version.kind === 'blind') return notAsked();
  const { podman } = version.value;
  if (podman === null) return ok('this is Docker, not Podman');
  return wrong(
    `this is ${podman} ${version.value.version}: it drops device requests, and the gate refuses to start on it`,
    'point DOCKER_HOST at a Docker Engine',
  );
}

const TRY_IT = 'gpu-gate doctor --try-image IMAGE starts a container with a card for a moment, to find out';
const INSTALL = 'install the NVIDIA Container Toolkit, then systemctl restart docker';

export interface GpuFacts {
  /** The path of the daemon's hook; null where it has none. */
  readonly hook: Probed<string | null>;
  /** The cards, as nvidia-smi showed them; empty where it showed none. */
  readonly uuids: readonly string[];
}

/** Whether the engine can give cards to a container: by CDI, or by NVIDIA's hook. */
export function judgeGpuSupport(info: Probed<EngineInfo>, { hook, uuids }: GpuFacts): Verdict {
  if (info.kind === 'blind') return notAsked();
  const { cdiDevices, runtimes } = info.value;
  const cdi = cdiDevices.filter((name) => name.startsWith('nvidia.com/gpu='));
  if (cdi.length > 0) return judgeCdiNames(cdi, uuids);
  if (hook.kind === 'seen' && hook.value !== null) return ok(`NVIDIA's hook is there (${hook.value})`);
  if (runtimes.includes('nvidia')) return ok('the runtime nvidia is registered');
  if (hook.kind === 'seen') {
    return wrong(
      'neither the runtime nvidia, nor its hook on the PATH of dockerd, nor a CDI device: every start would fail with "could not select device driver"',
      INSTALL,
    );
  }
  return unknown(`neither the runtime nvidia nor a CDI device is registered, and for the hook: ${hook.detail}`, TRY_IT);
}

/** The gate requests cards by uuid, and an engine with CDI devices looks for the uuids among these. */
function judgeCdiNames(devices: readonly string[], uuids: readonly string[]): Verdict {
  const missing = uuids.filter((uuid) => !devices.includes(`nvidia.com/gpu=${uuid}`));
  if (missing.length === 0) return ok(`CDI, ${devices.length} device names`);
  return warning(
    `the CDI specification has no name for ${missing.join(', ')}: an engine that looks there first cannot give these`,
    'nvidia-ctk cdi generate --device-name-strategy=uuid --device-name-strategy=index --output=/etc/cdi/nvidia.yaml, and again after each change of cards or driver',
  );
}

/** The result of starting a container with a card; null where that was not requested. */
export function judgeTried(tried: Tried | null): Verdict {
  if (tried === null) return skipped('not tried, since that starts a container', TRY_IT);
  switch (tried.kind) {
    case 'accepted':
      return ok('a container was started with a card, and removed');
    case 'refused':
      return wrong(`the start of a container with a card failed: ${tried.detail}`, INSTALL);
    case 'no_image':
      return unknown('the image is not on this machine', 'pull it first, or name another: any will do');
    case 'in_doubt':
      return unknown(`no clear answer from Docker: ${tried.detail}`);
    default:
      return tried satisfies never;
  }
}

/**
 * The hook adds the devices to the container's cgroup without systemd's knowledge, and `systemctl daemon-reload` takes them
 * away from running jobs: "Failed to initialize NVML: Unknown Error" (NVIDIA/nvidia-container-toolkit#48).
 */
export function judgeCgroupDriver(info: Probed<EngineInfo>): Verdict {
  if (info.kind === 'blind') return notAsked();
  const { cgroupDriver, cdiDevices } = info.value;
  if (cgroupDriver !== 'systemd')
    return ok(`${cgroupDriver || 'none'}: systemctl daemon-reload takes no card from a running job`);
  if (cdiDevices.some((name) => name.startsWith('nvidia.com/gpu=')))
    return ok('systemd, with CDI, so that systemd knows the devices');
  return warning(
    'systemd, without CDI: systemctl daemon-reload can take the cards from jobs that run ("Failed to initialize NVML: Unknown Error")',
    'generate a CDI specification (nvidia-ctk cdi generate) on Docker 28.2 or newer, or have the device nodes made with nvidia-ctk system create-dev-char-symlinks, or set "exec-opts": ["native.cgroupdriver=cgroupfs"] in daemon.json',
  );
}

export interface EnvRule {
  /** `accept-nvidia-visible-devices-envvar-when-unprivileged` in the toolkit's configuration; null where it is not set. */
  readonly envHeeded: boolean | null;
}

/** Images whose environment requests every card: that takes effect where nvidia is the default runtime. */
export function judgeImages(
  images: Probed<{ readonly images: readonly EngineImage[]; readonly unanswered: number }>,
  info: Probed<EngineInfo>,
  { envHeeded }: EnvRule,
): Verdict {
  if (images.kind === 'blind' || info.kind === 'blind') return notAsked();
  const greedy = images.value.images.filter(({ env }) => env.includes('NVIDIA_VISIBLE_DEVICES=all'));
  const left = images.value.unanswered > 0 ? `; ${images.value.unanswered} images could not be inspected` : '';
  if (greedy.length === 0)
    return ok(`none of ${images.value.images.length} requests every card by its environment${left}`);
  const names = greedy.slice(0, 5).map(({ name }) => name);
  const more = greedy.length > names.length ? ` and ${greedy.length - names.length} more` : '';
  const says = `${greedy.length} request every card by their environment (${names.join(', ')}${more})${left}`;
  const { defaultRuntime } = info.value;
  if (!/nvidia/.test(defaultRuntime))
    return ok(`${says}; without effect while the default runtime is ${defaultRuntime}`);
  if (envHeeded === false) return ok(`${says}; the toolkit's configuration ignores it`);
  return warning(
    `${says}: a container that somebody starts from one sees all cards, as the default runtime is ${defaultRuntime}`,
    'set accept-nvidia-visible-devices-envvar-when-unprivileged = false in /etc/nvidia-container-runtime/config.toml, or take "default-runtime" out of daemon.json',
  );
}

/** How much memory Docker can let a job lock, which RDMA needs. */
export function judgeMemlock(version: Probed<EngineVersion>, bytes: number, daemonsSeen: number): Verdict {
  if (version.kind === 'blind') return notAsked();
  if (daemonsSeen === 0) return unknown('no dockerd can be seen among the processes of this machine');
  if (bytes === -1) return ok('Docker can let a job lock all memory');
  return warning(
    `Docker can let a job lock ${bytes} bytes at most, since it may not raise limits itself; RDMA may need more`,
    'raise LimitMEMLOCK of the docker service (systemctl edit docker), or of the container that it runs in',
  );
}

function notAsked(): Verdict {
  return unknown('Docker does not answer, see above');
}
