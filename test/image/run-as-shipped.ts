import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type Docker from 'dockerode';
import type { Engine } from '../support/docker/engine.js';
import { shippedRunLine } from './run-line.js';

/**
 * The create request for the shipped `docker run` line, with the image and this machine's folders filled in: the engine's
 * own socket, folders below the engine's for those that jobs mount, and the stand-in for `nvidia-smi`, which `--gpus all`
 * provides on a real machine. The image's healthcheck runs every second.
 */
export function asShipped(engine: Engine, image: string): Docker.ContainerCreateOptions {
  const flags = new Map(shippedRunLine().flags);
  const take = (name: string): readonly string[] => {
    const values = flags.get(name) ?? [];
    flags.delete(name);
    return values;
  };
  const one = (name: string): string => take(name)[0] ?? '';
  const groups = take('group-add').map(() => String(statSync(engine.socketPath).gid));
  const options: Docker.ContainerCreateOptions = {
    name: one('name'),
    Image: image,
    StopTimeout: Number(one('stop-timeout')),
    Healthcheck: { Interval: 1_000_000_000 },
    HostConfig: {
      NetworkMode: one('network'),
      PidMode: one('pid'),
      RestartPolicy: { Name: one('restart') },
      DeviceRequests: take('gpus').map((asked) => ({ Count: asked === 'all' ? -1 : 0, Capabilities: [['gpu']] })),
      DeviceCgroupRules: [...take('device-cgroup-rule')],
      CapDrop: [...take('cap-drop')],
      SecurityOpt: [...take('security-opt')],
      GroupAdd: groups,
      Binds: [...take('v').map((mount) => onThisMachine(engine, mount)), standIn(engine)],
    },
  };
  if (flags.size > 0) throw new Error(`the docker run line has flags unknown here: ${[...flags.keys()].join(', ')}`);
  return options;
}

/** A volume name stays; a path becomes one below the engine's folder. */
function onThisMachine(engine: Engine, mount: string): string {
  const [source = '', ...rest] = mount.split(':');
  if (!source.startsWith('/')) return mount;
  if (source === '/var/run/docker.sock') return [engine.socketPath, ...rest].join(':');
  const folder = join(engine.folder, 'machine', source);
  mkdirSync(folder, { recursive: true });
  return [folder, ...rest].join(':');
}

function standIn(engine: Engine): string {
  const program = join(engine.folder, 'nvidia-smi');
  const inImage = '/opt/tuneplane-gpu-gate/dist/stand-in/nvidia-smi.js';
  writeFileSync(program, `#!/bin/sh\nexec ${inImage} "$@"\n`, { mode: 0o755 });
  return `${program}:/usr/local/bin/nvidia-smi:ro`;
}
