import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { dockerEndpoint } from '../../src/docker/endpoint.js';

const id = createHash('sha256').update('lab').digest('hex');
const meta = (Host: string) => JSON.stringify({ Name: 'lab', Endpoints: { docker: { Host } } });
const metaPath = `/home/op/.docker/contexts/meta/${id}/meta.json`;

test.each<[string, NodeJS.ProcessEnv, Record<string, string>, object]>([
  ['the usual socket is the default', {}, {}, { kind: 'unix', path: '/var/run/docker.sock' }],
  ['DOCKER_HOST may be a socket', { DOCKER_HOST: 'unix:///run/x.sock' }, {}, { kind: 'unix', path: '/run/x.sock' }],
  ['a bare unix:// is the default', { DOCKER_HOST: 'unix://' }, {}, { kind: 'unix', path: '/var/run/docker.sock' }],
  [
    'DOCKER_HOST may be TCP',
    { DOCKER_HOST: 'tcp://10.0.0.1:4000' },
    {},
    { kind: 'tcp', host: '10.0.0.1', port: 4000, tls: null },
  ],
  ['TCP without a port is 2375', { DOCKER_HOST: 'tcp://box' }, {}, { kind: 'tcp', host: 'box', port: 2375, tls: null }],
  ['a host alone is TCP', { DOCKER_HOST: 'box:80' }, {}, { kind: 'tcp', host: 'box', port: 80, tls: null }],
  [
    'an IPv6 address has brackets',
    { DOCKER_HOST: 'tcp://[::1]:1' },
    {},
    { kind: 'tcp', host: '::1', port: 1, tls: null },
  ],
  [
    'TLS takes its files from DOCKER_CERT_PATH and 2376',
    { DOCKER_HOST: 'tcp://box', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/certs' },
    {},
    { kind: 'tcp', host: 'box', port: 2376, tls: '/certs' },
  ],
  [
    'certificates alone are no wish for TLS',
    { DOCKER_HOST: 'tcp://box', DOCKER_CERT_PATH: '/certs' },
    {},
    { kind: 'tcp', host: 'box', port: 2375, tls: null },
  ],
  [
    'ssh is refused',
    { DOCKER_HOST: 'ssh://box' },
    {},
    { kind: 'problem', detail: 'DOCKER_HOST: expected unix:///path or tcp://host:port, got "ssh://box"' },
  ],
  [
    'the current context counts',
    {},
    { '/home/op/.docker/config.json': '{"currentContext":"lab"}', [metaPath]: meta('unix:///lab.sock') },
    { kind: 'unix', path: '/lab.sock' },
  ],
  ['DOCKER_CONTEXT counts', { DOCKER_CONTEXT: 'lab' }, { [metaPath]: meta('unix:///lab.sock') }, { path: '/lab.sock' }],
  [
    'DOCKER_HOST wins over a context',
    { DOCKER_CONTEXT: 'lab', DOCKER_HOST: 'unix:///host.sock' },
    { [metaPath]: meta('unix:///lab.sock') },
    { path: '/host.sock' },
  ],
  [
    'a context may have its own certificates',
    { DOCKER_CONTEXT: 'lab' },
    { [metaPath]: meta('tcp://box:1'), [`/home/op/.docker/contexts/tls/${id}/docker/ca.pem`]: 'x' },
    { kind: 'tcp', host: 'box', port: 1, tls: `/home/op/.docker/contexts/tls/${id}/docker` },
  ],
  [
    'a context that is not there is a problem',
    { DOCKER_CONTEXT: 'lab' },
    {},
    {
      kind: 'problem',
      detail: expect.stringMatching(/^Docker context "lab": expected its description in .*; set DOCKER_HOST/),
    },
  ],
  [
    'the context called default is the default',
    {},
    { '/home/op/.docker/config.json': '{"currentContext":"default"}' },
    { path: '/var/run/docker.sock' },
  ],
  [
    'a config that is no JSON has no context',
    {},
    { '/home/op/.docker/config.json': 'x' },
    { path: '/var/run/docker.sock' },
  ],
])('%s', (_says, env, files, expected) => {
  expect(dockerEndpoint(env, '/home/op', (path) => files[path] ?? null)).toMatchObject(expected);
});
