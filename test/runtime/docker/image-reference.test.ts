import { expect, test } from 'vitest';
import { parseImageReference } from '../../../src/runtime/docker/image-reference.js';

test.each([
  ['busybox', 'docker.io', 'busybox', 'latest'],
  ['busybox:1.36', 'docker.io', 'busybox', '1.36'],
  ['nvidia/cuda:12', 'docker.io', 'nvidia/cuda', '12'],
  ['registry.local/train:1.4', 'registry.local', 'registry.local/train', '1.4'],
  ['registry.local:5000/a/b', 'registry.local:5000', 'registry.local:5000/a/b', 'latest'],
  ['EVIL/train', 'EVIL', 'EVIL/train', 'latest'],
  ['localhost/train', 'localhost', 'localhost/train', 'latest'],
  ['registry.local/train@sha256:abc', 'registry.local', 'registry.local/train', 'sha256:abc'],
  ['registry.local/train:1.4@sha256:abc', 'registry.local', 'registry.local/train', 'sha256:abc'],
])('%s is of the registry %s', (image, registry, name, version) => {
  expect(parseImageReference(image)).toEqual({ registry, name, version });
});

test.each([[''], ['a b'], ['../containers'], ['a/./b'], ['a//b'], ['a?b=c'], ['a#b'], ['a%2fb'], ['a\nb']])(
  '"%s" is no image',
  (image) => expect(parseImageReference(image)).toBeNull(),
);
