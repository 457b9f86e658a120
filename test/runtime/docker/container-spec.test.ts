import { describe, expect, test } from 'vitest';
import type { Grant } from '../../../src/model/admission.js';
import { cardIndex } from '../../../src/model/card.js';
import { containerSpec } from '../../../src/runtime/docker/container-spec.js';
import { grantOf, job, plainRequest, uuidOf } from '../../support/jobs.js';

describe('the body that creates a container', () => {
  test('holds this and nothing else for the plainest job', () => {
    expect(containerSpec(job('train-17', plainRequest('train:1.4')), grantOf(1, 3))).toEqual({
      name: 'tuneplane-train-17',
      Image: 'train:1.4',
      Env: [
        'CUDA_DEVICE_ORDER=PCI_BUS_ID',
        `NVIDIA_VISIBLE_DEVICES=${uuidOf(1)},${uuidOf(3)}`,
        'CUDA_VISIBLE_DEVICES',
        'NVIDIA_IMEX_CHANNELS',
        'NVIDIA_MIG_CONFIG_DEVICES',
        'NVIDIA_MIG_MONITOR_DEVICES',
      ],
      Labels: {
        'tuneplane.run_id': 'train-17',
        'tuneplane.gpus': '1,3',
        'tuneplane.life': 'life-1',
        'tuneplane.delegate': '',
        'tuneplane.gpu-uuids': `${uuidOf(1)},${uuidOf(3)}`,
        'tuneplane.spec-sha256': 'f'.repeat(64),
        'tuneplane.admitted-by': 'gate-a',
        'tuneplane.admitted-at': '2026-11-29T12:00:00.000Z',
        'tuneplane.principal': 'console',
      },
      HostConfig: {
        Privileged: false,
        SecurityOpt: ['no-new-privileges'],
        RestartPolicy: { Name: 'no', MaximumRetryCount: 0 },
        Init: true,
        LogConfig: { Type: 'json-file', Config: { 'max-size': '100m', 'max-file': '2' } },
        IpcMode: 'private',
        NetworkMode: 'bridge',
        CapDrop: ['MKNOD', 'SETFCAP'],
        PidsLimit: 4096,
        Ulimits: [
          { Name: 'memlock', Soft: -1, Hard: -1 },
          { Name: 'stack', Soft: 67_108_864, Hard: 67_108_864 },
        ],
        DeviceRequests: [{ Driver: 'nvidia', DeviceIDs: [uuidOf(1), uuidOf(3)], Capabilities: [['gpu']] }],
      },
    });
  });

  test('asks for no card, keeps CUDA images from all of them, and claims nothing, for a job of 0 cards', () => {
    const body = containerSpec(job('cpu', plainRequest('train:1.4'), 0), grantOf());
    expect(body.HostConfig?.DeviceRequests).toBeUndefined();
    expect(body.Env).toContain('NVIDIA_VISIBLE_DEVICES=void');
    expect(body.Labels).toMatchObject({ 'tuneplane.gpus': '', 'tuneplane.gpu-uuids': '' });
  });

  test('names the indices where a uuid is not known, and then claims by them alone', () => {
    const known = grantOf(0);
    const blind: Grant = { ...known, cards: [...known.cards, { index: cardIndex(2), uuid: null, name: null }] };
    const body = containerSpec(job('blind', plainRequest('train:1.4')), blind);
    expect(body.HostConfig?.DeviceRequests).toEqual([
      { Driver: 'nvidia', DeviceIDs: ['0', '2'], Capabilities: [['gpu']] },
    ]);
    expect(body.Labels?.['tuneplane.gpus']).toBe('0,2');
    // Written, and empty: one of the image's own would be read as ours.
    expect(body.Labels?.['tuneplane.gpu-uuids']).toBe('');
  });

  test('lets no label or variable of the caller stand over ours', () => {
    const request = plainRequest('train:1.4', {
      labels: { 'tuneplane.gpus': '7', team: 'vision' },
      env: { CUDA_DEVICE_ORDER: 'FASTEST_FIRST', EPOCHS: '3' },
    });
    const body = containerSpec(job('sly', request), grantOf(1));
    expect(body.Labels).toMatchObject({ 'tuneplane.gpus': '1', team: 'vision' });
    const settings = body.Env?.filter((entry) => entry.includes('='));
    expect(settings).toEqual(['CUDA_DEVICE_ORDER=PCI_BUS_ID', 'EPOCHS=3', `NVIDIA_VISIBLE_DEVICES=${uuidOf(1)}`]);
  });

  test('runs an image whose own init must be process 1 without another', () => {
    const initOf = (init?: boolean) =>
      containerSpec(job('s6', plainRequest('s6:1', init === undefined ? {} : { init })), grantOf(0)).HostConfig?.Init;
    expect([initOf(), initOf(true), initOf(false)]).toEqual([true, true, false]);
  });

  test('lets no key of the caller through that it does not know', () => {
    const request = { ...plainRequest('train:1.4'), Privileged: true, HostConfig: { Binds: ['/:/host'] } };
    expect(JSON.stringify(containerSpec(job('sly', request), grantOf(1)))).not.toMatch(/"Privileged":true|Binds/);
  });

  test('writes what was asked for in Docker’s words', () => {
    const request = plainRequest('train:1.4', {
      command: ['train.py'],
      entrypoint: [],
      mounts: [{ type: 'volume', source: 'scratch', target: '/scratch', readOnly: false }],
      ulimits: { memlock: 65_536 },
      cpus: 0.5,
      ports: [
        { container: 80, host: 8080 },
        { container: 80, host: 8081 },
      ],
      devices: ['/dev/infiniband/uverbs0'],
      ipc: 'shareable',
      network: 'none',
    });
    expect(containerSpec(job('words', request), grantOf(1))).toMatchObject({
      Cmd: ['train.py'],
      Entrypoint: [],
      ExposedPorts: { '80/tcp': {} },
      HostConfig: {
        Mounts: [{ Type: 'volume', Source: 'scratch', Target: '/scratch', ReadOnly: false }],
        Ulimits: [{ Name: 'memlock', Soft: 65_536, Hard: 65_536 }, { Name: 'stack' }],
        NanoCpus: 500_000_000,
        PortBindings: { '80/tcp': [{ HostPort: '8080' }, { HostPort: '8081' }] },
        Devices: [
          {
            PathOnHost: '/dev/infiniband/uverbs0',
            PathInContainer: '/dev/infiniband/uverbs0',
            CgroupPermissions: 'rwm',
          },
        ],
        IpcMode: 'shareable',
        NetworkMode: 'none',
      },
    });
  });

  test.each([
    ['nothing', {}],
    ['no limit', { memlock: -1 }],
  ])('a job that asks for %s gets as much locked memory as this Docker may give', (_asked, ulimits) => {
    const body = containerSpec(job('small', plainRequest('train:1.4', { ulimits })), grantOf(1), {
      memlock: 8_388_608,
      hidden: [],
    });
    expect(body.HostConfig?.Ulimits?.[0]).toEqual({ Name: 'memlock', Soft: 8_388_608, Hard: 8_388_608 });
  });
});
