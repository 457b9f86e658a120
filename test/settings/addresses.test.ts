import { describe, expect, test } from 'vitest';
import { isLocal, readAddress, writeAddress } from '../../src/settings/addresses.js';
import { redisUrlForPeople } from '../../src/settings/parsers.js';

describe('an address that is one is written back as it came', () => {
  test.each([
    '127.0.0.1:9840',
    'localhost:0',
    'gpu-7.rack_2.example:65535',
    '0.0.0.0:80',
    '[::]:9840',
    '[::1]:9840',
    '[fe80::1%eth0]:9840',
    'unix:/run/gate.sock',
    'unix:/with space',
  ])('%s', (text) => {
    const address = readAddress(text);
    expect(address).not.toBeNull();
    expect(address && writeAddress(address)).toBe(text);
  });
});

describe('what is none is none', () => {
  test.each([
    ['nothing', ''],
    ['a port alone', '9840'],
    ['no host', ':9840'],
    ['every host', '*:9840'],
    ['no port', 'localhost'],
    ['an empty port', 'localhost:'],
    ['a port too high', 'localhost:65536'],
    ['a port by name', 'localhost:http'],
    ['v6 without brackets', '::1:9840'],
    ['v4 in brackets', '[127.0.0.1]:9840'],
    ['half a v4', '127.0.0.300:9840'],
    ['a scheme', 'http://localhost:9840'],
    ['a space', 'local host:9840'],
    ['a relative socket', 'unix:gate.sock'],
    ['a socket with no name', 'unix:/'],
    ['a socket path longer than Linux allows', `unix:/${'a'.repeat(107)}`],
  ])('%s', (_says, text) => expect(readAddress(text)).toBeNull());
});

describe('whether only this machine can reach it', () => {
  test.each([
    ['127.0.0.1:1', true],
    ['127.8.8.8:1', true],
    ['LOCALHOST:1', true],
    ['[::1]:1', true],
    ['[0:0:0:0:0:0:0:1]:1', true],
    ['[::ffff:127.0.0.1]:1', true],
    ['unix:/run/gate', true],
    ['0.0.0.0:1', false],
    ['10.0.0.1:1', false],
    ['[::]:1', false],
    ['[::ffff:10.0.0.1]:1', false],
    ['[fe80::1%lo]:1', false],
    ['gate.example:1', false],
    ['127.example:1', false],
  ])('%s: %s', (text, local) => {
    const address = readAddress(text);
    expect(address && isLocal(address)).toBe(local);
  });
});

test.each([
  ['redis://10.0.0.1:6379/0', 'redis://10.0.0.1:6379/0'],
  ['rediss://user:hunter2@redis:6380?password=hunter2', 'rediss://***@redis:6380'],
  ['redis://:hunter2@[::1]:6379', 'redis://***@[::1]:6379'],
  ['hunter2', '(not shown, it may hold a password)'],
])('for people %s reads %s', (text, shown) => expect(redisUrlForPeople(text)).toBe(shown));
