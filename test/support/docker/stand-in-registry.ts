import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The required credentials, or null for none. */
export type Login = { readonly username: string; readonly password: string } | null;

/** The part of a registry's HTTP API that `docker push` and `docker pull` use, for machines without Debian's registry. */
export function createStandInRegistry(login: Login): (request: IncomingMessage, response: ServerResponse) => void {
  const blobs = new Map<string, Buffer>();
  const manifests = new Map<string, { readonly type: string; readonly body: Buffer }>();
  const uploads = new Map<string, Buffer[]>();

  return (request, response) => {
    void bodyOf(request).then((body) => {
      const url = new URL(request.url ?? '/', 'http://registry');
      const method = request.method ?? 'GET';
      const say = (status: number, headers: Record<string, string> = {}, content: Buffer | string = '') => {
        response.writeHead(status, { 'docker-distribution-api-version': 'registry/2.0', ...headers });
        response.end(method === 'HEAD' ? '' : content);
      };
      const refuse = (status: number, code: string, message: string, headers = {}) =>
        say(
          status,
          { 'content-type': 'application/json', ...headers },
          JSON.stringify({ errors: [{ code, message }] }),
        );

      if (login !== null && request.headers.authorization !== basic(login)) {
        return refuse(401, 'UNAUTHORIZED', 'authentication required', { 'www-authenticate': 'Basic realm="gate"' });
      }
      const [, name = '', kind, id = ''] =
        /^\/v2\/(.+)\/(manifests|blobs\/uploads|blobs)\/(.*)$/.exec(url.pathname) ?? [];
      if (kind === 'manifests') {
        const key = `${name}@${id}`;
        if (method === 'PUT') {
          const digest = digestOf(body);
          const manifest = { type: request.headers['content-type'] ?? '', body };
          manifests.set(key, manifest).set(`${name}@${digest}`, manifest);
          return say(201, { 'docker-content-digest': digest });
        }
        const found = manifests.get(key);
        if (found === undefined) return refuse(404, 'MANIFEST_UNKNOWN', 'manifest unknown');
        const headers = { 'content-type': found.type, 'docker-content-digest': digestOf(found.body) };
        return say(200, { ...headers, 'content-length': String(found.body.length) }, found.body);
      }
      if (kind === 'blobs') {
        const found = blobs.get(id);
        if (found === undefined) return refuse(404, 'BLOB_UNKNOWN', 'blob unknown to registry');
        return say(200, { 'content-length': String(found.length), 'docker-content-digest': id }, found);
      }
      if (kind === 'blobs/uploads') {
        const upload = method === 'POST' ? randomUUID() : id;
        const parts = [...(uploads.get(upload) ?? []), body];
        uploads.set(upload, parts);
        const digest = url.searchParams.get('digest');
        if (method === 'PUT' && digest !== null) {
          blobs.set(digest, Buffer.concat(parts));
          return say(201, { location: `/v2/${name}/blobs/${digest}`, 'docker-content-digest': digest });
        }
        const range = `0-${Math.max(0, Buffer.concat(parts).length - 1)}`;
        return say(202, { location: `/v2/${name}/blobs/uploads/${upload}`, range, 'docker-upload-uuid': upload });
      }
      return url.pathname === '/v2/' ? say(200, {}, '{}') : refuse(404, 'NAME_UNKNOWN', 'no such thing');
    });
  };
}

function basic({ username, password }: NonNullable<Login>): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function digestOf(body: Buffer): string {
  return `sha256:${createHash('sha256').update(body).digest('hex')}`;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
