import { expect, test } from 'vitest';
import { isAllowedImage } from '../../src/policy/image-pattern.js';
import { matches } from '../../src/policy/wildcard.js';

test.each([
  ['a text matches itself', 'abc', 'abc', true],
  ['and no longer one', 'abc', 'abcd', false],
  ['a star matches anything', '*', '', true],
  ['a star at the end matches any end', 'ab*', 'abc', true],
  ['a star at the start matches any start', '*bc', 'abc', true],
  ['a star matches nothing as well', 'ab*c', 'abc', true],
  ['the two ends may not share characters', 'ab*ba', 'aba', false],
  ['what stands between stars must come in order', '*a*b*', 'xaybz', true],
  ['and not in another', '*b*a*', 'xaybz', false],
  ['a middle may not reach into the end', 'a*b*b', 'ab', false],
  ['a dot is a dot', 'a.c', 'abc', false],
])('%s', (_says, pattern, text, expected) => {
  expect(matches(pattern, text)).toBe(expected);
});

test('a pattern of many stars ends on a long text that is nearly right', () => {
  expect(matches('*a'.repeat(2_000) + '*b', 'a'.repeat(100_000))).toBe(false);
});

test.each([
  ['any image is allowed by a star', ['*'], 'evil.example/x', true],
  ['a registry is allowed with all below it', ['registry.local/*'], 'registry.local/team/train:1', true],
  ['another registry of a similar name is not', ['registry.local/*'], 'registry.local.evil.example/x', false],
  ['a short name means Docker Hub', ['ubuntu:*'], 'ubuntu:22.04', true],
  ['and the same written out', ['ubuntu:*'], 'docker.io/library/ubuntu:22.04', true],
  ['but no registry called so', ['ubuntu:*'], 'ubuntu:5000/evil', false],
  ['nor a domain that begins so', ['ubuntu*'], 'ubuntu.evil.example/x', false],
  ['an image without a tag is latest', ['ubuntu:latest'], 'ubuntu', true],
  ['an image without a tag is allowed without one', ['ubuntu'], 'ubuntu', true],
  ['another tag is another image', ['ubuntu:22.04'], 'ubuntu:24.04', false],
  ['a team on Docker Hub', ['team/*'], 'team/train:1', true],
  ['another team on Docker Hub', ['team/*'], 'other/train:1', false],
  ['an id has no name that could be allowed', ['ubuntu*', 'docker.io/*'], 'a'.repeat(64), false],
  ['nor has the beginning of one', ['docker.io/library/*'], 'beef', false],
  ['nor a shorter one that says what it is', ['docker.io/library/*'], 'sha256:beef', false],
  ['a name of hex digits is one with its tag', ['docker.io/library/*'], 'cafe:latest', true],
  ['a part in upper case is a registry, not a team on Docker Hub', ['docker.io/*'], 'EVIL/train:1', false],
  ['a registry is the same in upper case', ['registry.local/*'], 'Registry.LOCAL/train:1', true],
  ['and in the pattern', ['Registry.Local:5000/*'], 'registry.local:5000/train:1', true],
  ['registries by a pattern', ['*.example.com/*'], 'eu.example.com/train:1', true],
  ['which a name cannot pretend to be', ['*.example.com/*'], 'evil.io/a.example.com/train:1', false],
  ['a name on any registry', ['*/train:1'], 'evil.io/train:1', true],
  ['no pattern allows nothing', [], 'ubuntu', false],
])('%s', (_says, patterns, image, expected) => {
  expect(isAllowedImage(patterns, image)).toBe(expected);
});
