import type { ContainerCreateOptions, HostConfig } from 'dockerode';
import { UNLIMITED } from '../../docker/locked-memory.js';
import type { ContainerRequest, Grant, JobSpec, Mount } from '../../model/admission.js';
import { containerName } from '../../model/labels.js';
import { deviceIds, runLabels } from '../labels.js';
import { ALWAYS_HIDDEN } from './image-env.js';

/** What the machine and the image add to the request. */
export interface SpecGround {
  /** The default memlock limit of a job, in bytes; -1 is unlimited. */
  readonly memlock: number;
  /** The variables that the job must not inherit from its image. */
  readonly hidden: readonly string[];
}

/**
 * The body of the create request for a run's container. Every key is set here, starting from an empty `HostConfig`: no part
 * of a request reaches Docker unparsed. The policy decides what a caller may ask; this only translates what it allowed.
 */
export function containerSpec(
  spec: JobSpec,
  grant: Grant,
  { memlock, hidden }: SpecGround = { memlock: UNLIMITED, hidden: ALWAYS_HIDDEN },
): ContainerCreateOptions {
  const { container } = spec;
  const ids = deviceIds(grant);
  return {
    name: containerName(spec.runId),
    Image: container.image,
    ...(container.command && { Cmd: [...container.command] }),
    ...(container.entrypoint && { Entrypoint: [...container.entrypoint] }),
    ...(container.workingDir !== undefined && { WorkingDir: container.workingDir }),
    ...(container.user !== undefined && { User: container.user }),
    Env: environment(container.env, ids, hidden),
    Labels: runLabels(spec, grant),
    ...(container.ports.length > 0 && {
      ExposedPorts: Object.fromEntries(container.ports.map((port) => [`${port.container}/tcp`, {}])),
    }),
    HostConfig: {
      ...hostConfig(container, memlock),
      PidsLimit: spec.pidsLimit,
      // Never `Count`: Docker would choose the cards.
      ...(ids.length > 0 && { DeviceRequests: [{ Driver: 'nvidia', DeviceIDs: [...ids], Capabilities: [['gpu']] }] }),
    },
  };
}

/**
 * CUDA numbers cards by speed by default; `PCI_BUS_ID` makes it number them as nvidia-smi does. A CUDA image sets
 * `NVIDIA_VISIBLE_DEVICES` to `all`, and under an nvidia default runtime would see every card: `void` means none. A name
 * without a value removes a variable of the image (measured on Docker 20.10).
 */
function environment(
  asked: Readonly<Record<string, string>>,
  ids: readonly string[],
  hidden: readonly string[],
): string[] {
  const ours = { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', NVIDIA_VISIBLE_DEVICES: ids.length > 0 ? ids.join(',') : 'void' };
  const env = { ...asked, ...ours };
  return [
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...hidden.filter((name) => !(name in env)),
  ];
}

/** Without a requested limit, a job gets as much as Docker can give here. */
function withoutUnlimitedMemlock(asked: ContainerRequest['ulimits']): ContainerRequest['ulimits'] {
  const { memlock, ...others } = asked;
  return memlock === undefined || memlock === UNLIMITED ? others : asked;
}

function hostConfig(container: ContainerRequest, memlock: number): HostConfig {
  const { memoryBytes, cpus, shmBytes, mounts, ports, devices, capAdd } = container;
  return {
    Privileged: false,
    SecurityOpt: ['no-new-privileges'],
    // With a restart policy, Docker would restart a container at boot before the driver is ready, and on cards that others
    // may hold by then.
    RestartPolicy: { Name: 'no', MaximumRetryCount: 0 },
    // For an image whose own init must be process 1 (s6-overlay); under another init nothing would start.
    Init: container.init ?? true,
    LogConfig: { Type: 'json-file', Config: { 'max-size': '100m', 'max-file': '2' } },
    IpcMode: container.ipc ?? 'private',
    NetworkMode: container.network ?? 'bridge',
    Ulimits: ulimits({ memlock, stack: TRAINING_STACK, ...withoutUnlimitedMemlock(container.ulimits) }),
    ...(shmBytes !== undefined && { ShmSize: shmBytes }),
    ...(memoryBytes !== undefined && { Memory: memoryBytes }),
    ...(cpus !== undefined && { NanoCpus: Math.round(cpus * 1e9) }),
    ...(mounts.length > 0 && { Mounts: mounts.map(mount) }),
    ...(ports.length > 0 && {
      PortBindings: Object.fromEntries(
        ports.map((port) => [
          `${port.container}/tcp`,
          ports
            .filter((other) => other.container === port.container)
            .map((other) => ({ HostPort: String(other.host) })),
        ]),
      ),
    }),
    ...(devices.length > 0 && {
      Devices: devices.map((path) => ({ PathOnHost: path, PathInContainer: path, CgroupPermissions: 'rwm' })),
    }),
    ...(capAdd.length > 0 && { CapAdd: [...capAdd] }),
    CapDrop: DROPPED.filter((name) => !capAdd.includes(name)),
  };
}

/**
 * Docker grants these capabilities by default. A device node or a file with capabilities that a job leaves in a mounted
 * folder would serve anyone who finds it, and training creates neither.
 */
const DROPPED = ['MKNOD', 'SETFCAP'];

/** NCCL needs deep stacks, and RDMA pins memory: Docker's defaults of 8 MiB and 64 KiB make training jobs fail halfway. */
const TRAINING_STACK = 64 * 1024 * 1024;

function ulimits(all: Readonly<Record<string, number>>): { Name: string; Soft: number; Hard: number }[] {
  return Object.entries(all).map(([name, limit]) => ({ Name: name, Soft: limit, Hard: limit }));
}

/** Docker's `Mounts` and never `Binds`, which create a missing source folder, as root. */
function mount(asked: Mount): { Type: 'bind' | 'volume'; Source: string; Target: string; ReadOnly: boolean } {
  return { Type: asked.type, Source: asked.source, Target: asked.target, ReadOnly: asked.readOnly };
}
