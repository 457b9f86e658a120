/** What a request may ask of this machine: applies the policy's rules field by field and fills in the defaults. */

import type { ContainerRequest, FieldError, JobRequest, JobSpec, Mount, Refusal } from '../model/admission.js';
import type { Policy } from '../model/ports/admissions.js';
import type { AskOffLimits, OffLimitsAnswer } from '../model/ports/off-limits.js';
import { refuse } from '../model/refuse.js';
import type { RuntimeKind } from '../model/runtime-kind.js';
import { alwaysRefused, labelPointer } from './always-refused.js';
import { isAllowedImage } from './image-pattern.js';
import { checkMounts } from './mount-policy.js';
import type { RulesNow } from './open-rules.js';
import { realPath, type ResolvePath } from './paths-on-disk.js';
import type { PolicyRules } from './policy-rules.js';
import { isAllowedUser, userRefusal } from './user-pattern.js';
import { matchesAny } from './wildcard.js';

export interface PolicyParts {
  readonly rules: RulesNow;
  /** The paths that no job may mount on this machine; looked up for each request with mounts. */
  readonly offLimits: AskOffLimits;
  readonly resolve?: ResolvePath;
  readonly runtime?: RuntimeKind;
}

/** Turns an allowed request into a spec, or refuses it with everything in it that is not allowed. */
export function createPolicy(parts: PolicyParts): Policy {
  const { rules: rulesNow, offLimits, resolve = realPath, runtime = 'docker' } = parts;
  return async (request) => {
    const rules = await rulesNow();
    if (rules === null) return refuse('policy_denied', { detail: NO_RULES });
    switch (runtime) {
      case 'docker':
        return checkContainer(request, rules, offLimits, resolve);
      case 'process':
        return checkProcess(request, rules);
      default:
        return runtime satisfies never;
    }
  };
}

async function checkContainer(
  request: JobRequest,
  rules: PolicyRules,
  offLimits: AskOffLimits,
  resolve: ResolvePath,
): Promise<JobSpec | Refusal> {
  const filled = fillIn(request.container, rules);
  const errors = [
    ...alwaysRefused(filled),
    ...checkCards(request, rules),
    ...checkNames(filled, rules),
    ...checkBounds(filled, rules),
  ];
  const limits = filled.mounts.length === 0 ? NOTHING : await offLimits();
  if (limits.kind === 'unavailable' && errors.length === 0) return notNow(limits.detail);
  const mounts = await checkMounts(filled.mounts, { rules, offLimits: limits, resolve });
  errors.push(...mounts.flatMap((answer) => (answer.kind === 'denied' ? [answer.error] : [])));
  if (errors.length > 0) return denied(errors);
  const allowed = mounts.flatMap((answer): Mount[] => (answer.kind === 'allowed' ? [answer.mount] : []));
  return { ...request, container: { ...filled, mounts: allowed }, pidsLimit: rules.max.pids };
}

const NO_RULES = 'the policy file of this machine is missing or empty, so nothing may be requested until it is back';

/** A request without mounts does not need them. */
const NOTHING: OffLimitsAnswer = { kind: 'known', paths: [], volumes: [] };

function notNow(detail: string): Refusal {
  return refuse('docker_unavailable', {
    detail: `the forbidden paths could not be determined, so nothing is mounted now: ${detail}`,
  });
}

/** A plain process has no isolation to configure: only the number of cards and the always refused variables are checked. */
function checkProcess(request: JobRequest, rules: PolicyRules): JobSpec | Refusal {
  const errors = [...alwaysRefused(request.container), ...checkCards(request, rules)];
  return errors.length > 0 ? denied(errors) : { ...request, pidsLimit: rules.max.pids };
}

/** Without a requested value and a default, the bound itself applies: a bound only for those who ask would bound nothing. */
function fillIn(container: ContainerRequest, { defaults, max }: PolicyRules): ContainerRequest {
  return {
    ...container,
    user: container.user ?? defaults.user,
    shmBytes: container.shmBytes ?? defaults.shmBytes,
    memoryBytes: container.memoryBytes ?? defaults.memoryBytes ?? max.memoryBytes,
    cpus: container.cpus ?? defaults.cpus ?? max.cpus,
    ulimits: { ...max.ulimits, ...container.ulimits },
  };
}

function checkCards({ count }: JobRequest, { max }: PolicyRules): FieldError[] {
  return atMost('/count', count, max.cards);
}

function checkNames(container: ContainerRequest, rules: PolicyRules): FieldError[] {
  const errors: FieldError[] = [];
  const check = (pointer: string, ok: boolean, what: string, allowed: readonly string[]): void => {
    if (!ok) errors.push({ pointer, detail: `${what} is not allowed here; allowed: ${allowed.join(', ') || 'none'}` });
  };
  const { image, network, user, ipc } = container;
  check('/container/image', isAllowedImage(rules.images, image), image, rules.images);
  // Without a network, Docker uses the bridge, so the request counts as one for the bridge.
  check(
    '/container/network',
    matchesAny(rules.networks, network ?? 'bridge'),
    `the network ${network ?? 'bridge'}`,
    rules.networks,
  );
  if (!isAllowedUser(rules.users, user)) {
    errors.push({ pointer: '/container/user', detail: userRefusal(rules.users, user) });
  }
  check('/container/ipc', rules.ipc.includes(ipc ?? 'private'), `ipc ${ipc ?? 'private'}`, rules.ipc);
  const ranges = rules.ports.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));
  for (const [at, { host }] of container.ports.entries()) {
    const ok = rules.ports.some(({ from, to }) => host >= from && host <= to);
    check(`/container/ports/${at}/host`, ok, `the port ${host} of this machine`, ranges);
  }
  for (const [at, device] of container.devices.entries()) {
    check(`/container/devices/${at}`, matchesAny(rules.devices, device), `the device ${device}`, rules.devices);
  }
  for (const [at, name] of container.capAdd.entries()) {
    check(`/container/cap_add/${at}`, rules.capAdd.includes(name), `the capability ${name}`, rules.capAdd);
  }
  // Labels that are always refused have been reported already.
  const told = new Set(alwaysRefused(container).map(({ pointer }) => pointer));
  for (const name of Object.keys(container.labels)) {
    const pointer = labelPointer(name);
    check(pointer, told.has(pointer) || matchesAny(rules.labels, name), `the label ${name}`, rules.labels);
  }
  return errors;
}

function checkBounds({ memoryBytes, cpus, shmBytes, ulimits }: ContainerRequest, { max }: PolicyRules): FieldError[] {
  return [
    ...Object.entries(ulimits).flatMap(([name, value]) =>
      // -1 means no limit.
      atMost(`/container/ulimits/${name}`, value === -1 ? Infinity : value, max.ulimits[name], value),
    ),
    ...atMost('/container/memory_bytes', memoryBytes, max.memoryBytes),
    ...atMost('/container/cpus', cpus, max.cpus),
    ...atMost('/container/shm_bytes', shmBytes, max.shmBytes),
  ];
}

function atMost(
  pointer: string,
  value: number | undefined,
  bound: number | undefined,
  said: number | undefined = value,
): FieldError[] {
  if (value === undefined || bound === undefined || value <= bound) return [];
  return [{ pointer, detail: `expected at most ${bound} on this machine; got ${said}` }];
}

function denied(errors: readonly FieldError[]): Refusal {
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return {
    kind: 'refused',
    code: 'policy_denied',
    detail: `${errors[0]?.pointer ?? ''}: ${errors[0]?.detail ?? 'not allowed'}${more}`,
    errors,
  };
}
