/** Validates the body of a request: returns the typed request, or every invalid field. */

import { fieldErrors } from '../http/field-errors.js';
import type { FieldError, JobRequest, Mount, Refusal } from '../model/admission.js';
import type { RuntimeKind } from '../model/runtime-kind.js';
import {
  admitRequest,
  DOCKER_ONLY,
  processAdmitRequest,
  type AdmitBody,
  type ProcessAdmitBody,
} from './request-schema.js';
import { specSha256 } from './spec-hash.js';

/**
 * Checks the schema and fills in no defaults. Reports every invalid field, with the value that came and what was expected.
 */
export function parseRequest(body: unknown, runtime: RuntimeKind = 'docker'): JobRequest | Refusal {
  switch (runtime) {
    case 'docker':
      return parseForDocker(body);
    case 'process':
      return parseForProcess(body);
    default:
      return runtime satisfies never;
  }
}

function parseForDocker(body: unknown): JobRequest | Refusal {
  const errors = fieldErrors(admitRequest, body);
  if (errors.length > 0) return malformed(errors);
  const request = admitRequest.parse(body);
  const clashes = [...doubleTargets(request), ...doublePorts(request)];
  return clashes.length > 0 ? malformed(clashes) : toJobRequest(request);
}

function parseForProcess(body: unknown): JobRequest | Refusal {
  const errors = fieldErrors(processAdmitRequest, body).map(dockerOnly);
  return errors.length > 0 ? malformed(errors) : toProcessRequest(processAdmitRequest.parse(body));
}

/** A field that only Docker supports is not a misspelling: it is refused by name. */
function dockerOnly(error: FieldError): FieldError {
  const key = /^\/container\/([a-z_]+)$/.exec(error.pointer)?.[1];
  if (key === undefined || !DOCKER_ONLY.has(key)) return error;
  const detail = `${key} needs Docker; this gate starts plain processes, which take command, env and working_dir`;
  return { ...error, detail };
}

/** A refusal of the schema. Its detail names the first field, so that a log line makes sense without the list. */
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
    // Turns -0, which JSON allows, into 0, so that no later code has to handle it.
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
      init: container.init,
    },
  };
}

/** The other rules stay empty: a plain process has no isolation that they could apply to. */
function toProcessRequest(body: ProcessAdmitBody): JobRequest {
  const { command, env, working_dir: workingDir } = body.container;
  const nothing = { mounts: [], labels: {}, ulimits: {}, ports: [], devices: [], capAdd: [] };
  return {
    runId: body.run_id,
    count: body.count + 0,
    specSha256: specSha256(body),
    container: { ...nothing, image: '', command, env: env ?? {}, workingDir },
  };
}

function toMount(mount: NonNullable<AdmitBody['container']['mounts']>[number]): Mount {
  const { type, source, target } = mount;
  return { type, source, target, readOnly: mount.read_only ?? false };
}

function doubleTargets({ container }: AdmitBody): FieldError[] {
  const targets = (container.mounts ?? []).map(({ target }) => withoutLastSlashes(target));
  return repeated(targets).map((at) => ({
    pointer: `/container/mounts/${at}/target`,
    detail: 'expected a target of its own; another mount has this one',
  }));
}

function withoutLastSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}

function doublePorts({ container }: AdmitBody): FieldError[] {
  const hosts = (container.ports ?? []).map(({ host }) => host);
  return repeated(hosts).map((at) => ({
    pointer: `/container/ports/${at}/host`,
    detail: 'expected a host port of its own; another entry has this one',
  }));
}

/** The indices of elements that repeat an earlier element. */
function repeated(values: readonly (string | number)[]): number[] {
  return [...values.keys()].filter((at) => values.indexOf(values[at] ?? '') < at);
}
