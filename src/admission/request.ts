/** From what came in the body to a request that has its form, or to every field that does not. */

import type { FieldError, JobRequest, Mount, Refusal } from '../model/admission.js';
import { fieldErrors } from '../http/field-errors.js';
import { admitRequest } from './form.js';
import type { AdmitBody } from './form.js';
import { specSha256 } from './spec-hash.js';

/** Checks the form and fills nothing in. Every wrong field is named, with what came and what was expected. */
export function parseRequest(body: unknown): JobRequest | Refusal {
  const errors = fieldErrors(admitRequest, body);
  if (errors.length > 0) return malformed(errors);
  const request = admitRequest.parse(body);
  const clashes = [...doubleTargets(request), ...doublePorts(request)];
  return clashes.length > 0 ? malformed(clashes) : toJobRequest(request);
}

/** A refusal of the form; its detail names the first field, so that it stands in a log line without the list. */
export function malformed(errors: readonly FieldError[]): Refusal {
  const first = errors[0];
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const detail = first === undefined ? 'malformed' : `${first.pointer || 'the body'}: ${first.detail}${more}`;
  return { kind: 'refused', code: 'invalid_request', detail, errors };
}

function toJobRequest(body: AdmitBody): JobRequest {
  const { container } = body;
  return {
    runId: body.run_id,
    // Plus zero, as JSON knows a -0 and nothing behind this line needs to.
    count: body.count + 0,
    specSha256: specSha256(body),
    container: {
      image: container.image,
      command: container.command,
      entrypoint: container.entrypoint,
      env: container.env ?? {},
      workingDir: container.working_dir,
      user: container.user,
      shmBytes: container.shm_bytes,
      memoryBytes: container.memory_bytes,
      cpus: container.cpus,
      mounts: (container.mounts ?? []).map(toMount),
      network: container.network,
      labels: container.labels ?? {},
      ulimits: container.ulimits ?? {},
      ports: container.ports ?? [],
      devices: container.devices ?? [],
      capAdd: (container.cap_add ?? []).map((name) => name.replace(/^CAP_/, '')),
      ipc: container.ipc,
    },
  };
}

function toMount(mount: NonNullable<AdmitBody['container']['mounts']>[number]): Mount {
  const { type, source, target } = mount;
  return { type, source, target, readOnly: mount.read_only ?? false };
}

function doubleTargets({ container }: AdmitBody): FieldError[] {
  const targets = (container.mounts ?? []).map(({ target }) => target.replace(/\/+$/, ''));
  return repeated(targets).map((at) => ({
    pointer: `/container/mounts/${at}/target`,
    detail: 'expected a target of its own; another mount has this one',
  }));
}

function doublePorts({ container }: AdmitBody): FieldError[] {
  const hosts = (container.ports ?? []).map(({ host }) => host);
  return repeated(hosts).map((at) => ({
    pointer: `/container/ports/${at}/host`,
    detail: 'expected a host port of its own; another entry has this one',
  }));
}

/** The places at which something stands that stood before. */
function repeated(values: readonly (string | number)[]): number[] {
  return [...values.keys()].filter((at) => values.indexOf(values[at] ?? '') < at);
}
