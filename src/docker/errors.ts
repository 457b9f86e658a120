/** What went wrong with a call to Docker, and whether Docker may have carried it out all the same. */

/**
 * `answered`: the daemon itself refused; `message` is its own text.
 * `unreachable`: no connection, so nothing was sent and nothing can have happened.
 * `timeout`, `cut_off`: the call may have been carried out, or may still be.
 */
export type DockerTrouble =
  | { readonly kind: 'answered'; readonly status: number; readonly message: string }
  | { readonly kind: 'unreachable'; readonly code: string; readonly message: string }
  | { readonly kind: 'timeout'; readonly message: string }
  | { readonly kind: 'cut_off'; readonly code: string | null; readonly message: string };

/** Classifies whatever dockerode threw; in doubt `cut_off`, so that nothing assumes that the call had no effect. */
export function toDockerTrouble(thrown: unknown): DockerTrouble {
  const error = fieldsOf(thrown);
  if (typeof error['statusCode'] === 'number') {
    return { kind: 'answered', status: error['statusCode'], message: daemonWords(error) };
  }
  const message = typeof error['message'] === 'string' ? error['message'] : String(thrown);
  const code = typeof error['code'] === 'string' ? error['code'] : null;
  if (error['name'] === 'AbortError' || code === 'ABORT_ERR')
    return { kind: 'timeout', message: 'the call was cancelled' };
  if (code !== null && (error['syscall'] === 'connect' || error['syscall'] === 'getaddrinfo' || isTlsCode(code))) {
    return { kind: 'unreachable', code, message: `${message}${advice(code)}` };
  }
  return { kind: 'cut_off', code, message };
}

/** The error as one sentence for an operator. */
export function inWords(trouble: DockerTrouble): string {
  switch (trouble.kind) {
    case 'answered':
      return `Docker answered ${trouble.status}: ${trouble.message}`;
    case 'unreachable':
      return `Docker cannot be reached: ${trouble.message}`;
    case 'timeout':
      return `Docker did not answer: ${trouble.message}`;
    case 'cut_off':
      return `Docker broke off: ${trouble.message}`;
    default:
      return trouble satisfies never;
  }
}

/** A certificate is refused before any request is sent. */
function isTlsCode(code: string): boolean {
  return /CERT|^ERR_TLS|^ERR_SSL|^EPROTO$/.test(code);
}

function advice(code: string): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return " (the gate's user may not open the socket; on most machines the group `docker` may)";
    case 'ENOENT':
      return ' (no such socket; is Docker running, and is DOCKER_HOST right?)';
    case 'ECONNREFUSED':
      return ' (nobody listens there; is Docker running?)';
    default:
      return '';
  }
}

/**
 * The daemon answers `{"message": …}`; a proxy in between may answer anything. dockerode wraps both into its own message.
 */
function daemonWords(error: Readonly<Record<string, unknown>>): string {
  const body = fieldsOf(error['json']);
  if (typeof body['message'] === 'string' && body['message'] !== '') return body['message'].trim();
  const wrapped = typeof error['message'] === 'string' ? error['message'] : 'no words';
  return wrapped.replace(/^\(HTTP code \d+\)\s*/, '').trim();
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
