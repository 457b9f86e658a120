/** What no policy can allow, because it would override the gate's choice of cards or break the job's isolation. */

import { normalize } from 'node:path';
import type { ContainerRequest, FieldError } from '../model/admission.js';

/** They choose cards behind the gate's back, or load foreign code into the driver's hook. */
const ENV = new Set(['CUDA_VISIBLE_DEVICES', 'CUDA_DEVICE_ORDER', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT']);
const ENV_PREFIX = 'NVIDIA_';
/** Labels that the gate itself and Docker's tools rely on. */
const LABEL_PREFIXES = ['tuneplane.', 'com.docker.'];
/** The cards' device files and the driver's control files. `/dev/nvidia-fs*` (storage) is not one of them. */
const CARD_DEVICE = /^\/dev\/(?:nvidia\d|nvidiactl|nvidia-uvm|nvidia-modeset|nvidia-caps|dri(?:\/|$))/;

export function alwaysRefused(container: ContainerRequest): readonly FieldError[] {
  return [
    ...Object.keys(container.env)
      .filter((name) => ENV.has(name) || name.startsWith(ENV_PREFIX))
      .map((name) => ({
        pointer: `/container/env/${name}`,
        detail: `${name} is set by the gate or the driver, never by a request`,
      })),
    ...Object.keys(container.labels)
      .filter((name) => LABEL_PREFIXES.some((prefix) => name.startsWith(prefix)))
      .map((name) => ({
        pointer: labelPointer(name),
        detail: `expected a label that does not start with ${LABEL_PREFIXES.join(' or ')}`,
      })),
    ...container.devices.flatMap((device, at) => refusedDevice(device, `/container/devices/${at}`)),
    ...(container.network === 'host'
      ? [{ pointer: '/container/network', detail: "the host's network is never given to a job" }]
      : []),
    ...(container.ipc === 'host'
      ? [{ pointer: '/container/ipc', detail: "the host's ipc is never given to a job" }]
      : []),
  ];
}

/** The position of a label in a request, as a JSON pointer (RFC 6901). */
export function labelPointer(name: string): string {
  return `/container/labels/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function refusedDevice(device: string, pointer: string): FieldError[] {
  if (normalize(device) !== device)
    return [{ pointer, detail: 'expected a path without ".", ".." and double slashes' }];
  if (CARD_DEVICE.test(device)) return [{ pointer, detail: 'cards are given by the gate, never by their device file' }];
  return [];
}
