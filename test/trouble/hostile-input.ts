/** Generated requests: valid and invalid by the schema of `/admit`, and around it. */

import {
  array,
  constant,
  constantFrom,
  dictionary,
  double,
  integer,
  json,
  jsonValue,
  nat,
  oneof,
  record,
  string,
  stringMatching,
  tuple,
} from 'fast-check';
import { admitRequest } from '../../src/admit/request-schema.js';

const oddText = oneof(
  string({ unit: 'binary', maxLength: 40 }),
  constantFrom('', '__proto__', 'constructor', '../..', '\u0000', '\ud800', 'a'.repeat(200), '1e400', '-0', 'null'),
  // Input on which a backtracking pattern would be busy for minutes.
  constantFrom(`/${'a'.repeat(60_000)}\0`, `${'/'.repeat(100_000)}a`, `${'0'.repeat(100_000)} `, 'a.-'.repeat(30_000)),
);
const anything = oneof(jsonValue({ maxDepth: 3 }), oddText, double(), constantFrom(-1, 0, 1.5, 2 ** 53, 1e308));

const KEYS = Object.keys(admitRequest.shape.container.shape);
const likely = {
  run_id: constantFrom('train', 'a.b-c_D', 'x'.repeat(63)),
  count: integer({ min: 0, max: 9 }),
  image: constantFrom('nothing', 'registry.local:5000/a/b:1.0', 'x@sha256:' + '0'.repeat(64)),
};
/** Valid by the schema, with one value replaced. */
export const nearly = record({
  run_id: oneof({ weight: 6, arbitrary: likely.run_id }, anything),
  count: oneof({ weight: 6, arbitrary: likely.count }, anything),
  image: oneof({ weight: 6, arbitrary: likely.image }, anything),
  more: dictionary(constantFrom(...KEYS), anything, { maxKeys: 3 }),
  beside: dictionary(oddText, anything, { maxKeys: 1 }),
  inside: dictionary(oddText, oneof(constant('text'), anything), { maxKeys: 4 }),
  where: constantFrom('env', 'labels', 'ulimits', 'none'),
}).map(({ run_id, count, image, more, beside, inside, where }) => ({
  ...beside,
  run_id,
  count,
  container: { image, ...more, ...(where === 'none' ? {} : { [where]: inside }) },
}));
const listed = record({
  mounts: array(record({ type: constantFrom('bind', 'volume', 'tmpfs'), source: oddText, target: oddText })),
  ports: array(record({ container: anything, host: anything }), { maxLength: 3 }),
  devices: array(oddText, { maxLength: 3 }),
  cap_add: array(oddText, { maxLength: 3 }),
  command: array(oddText, { maxLength: 3 }),
}).map((more) => ({ run_id: 'train', count: 1, container: { image: 'nothing', ...more } }));
const cutOff = tuple(nearly, nat(200)).map(([body, at]) => JSON.stringify(body).slice(0, at));
/** Bodies for `/admit`: nearly valid ones, and some that are no requests at all. */
export const body = oneof(
  { weight: 4, arbitrary: nearly.map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: listed.map((value) => JSON.stringify(value)) },
  cutOff,
  json(),
  string({ unit: 'binary', maxLength: 100 }),
  constantFrom(
    '['.repeat(50_000),
    '{"a":'.repeat(20_000),
    `"${'x'.repeat(300_000)}"`,
    '\ufeff{}',
    '{"run_id":1,"run_id":2}',
  ),
);

const token = stringMatching(/^[A-Za-z0-9!#$%&'*+.^_|~-]{1,20}$/);
const headerValue = stringMatching(/^[ -~]{0,60}$/).map((value) => value.trim());
/** Arbitrary headers, and those that a server interprets. */
export const header = oneof(
  tuple(token, headerValue),
  tuple(
    constantFrom('content-type', 'host', 'origin', 'authorization', 'accept-encoding', 'content-encoding', 'expect'),
    oneof(
      headerValue,
      constantFrom('application/json', 'application/json; charset=utf-7', 'gzip', '127.0.0.1', '100-continue', 'null'),
    ),
  ),
  tuple(
    constantFrom(
      'x-prometheus-scrape-timeout-seconds',
      'sec-fetch-site',
      'range',
      'if-none-match',
      'upgrade',
      'connection',
    ),
    headerValue,
  ),
);
/** Known and invented methods. */
export const method = oneof(
  constantFrom(
    'GET',
    'HEAD',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'CONNECT',
    'PROPFIND',
    'get',
    'PRI',
  ),
  token,
);
const segment = oneof(
  constantFrom(
    'admit',
    'runs',
    'cards',
    'metrics',
    'healthz',
    'readyz',
    'openapi.json',
    'exclude',
    'include',
    'forget',
    '',
    '..',
    '%',
    '%2e%2e',
    '%00',
    '%e0%a4%a',
    'train',
  ),
  string({ maxLength: 12 }).map(encodeURIComponent),
);
const query = oneof(
  constant(''),
  constantFrom(
    '?',
    '?dry_run=true',
    '?dry_run=1',
    '?dry_run=true&dry_run=true',
    '?a[b]=c',
    '?__proto__=1',
    '?%',
    '?force=true',
  ),
);
/** Paths of the gate, similar paths, and queries. */
export const path = tuple(array(segment, { maxLength: 4 }), query).map(([parts, rest]) => `/${parts.join('/')}${rest}`);
