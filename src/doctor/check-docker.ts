/** The checks that query the Docker Engine. */

import { readFile } from 'node:fs/promises';
import { createDockerClient, type FoundClient } from '../docker/client.js';
import { daemonsSeen, findHook } from '../docker/daemon-process.js';
import { askImages, askInfo, askVersion } from '../docker/engine-facts.js';
import { lockedMemoryLimit } from '../docker/locked-memory.js';
import { tryDeviceRequest } from '../docker/try-device-request.js';
import type { GpusSeen, Probed } from '../model/snapshot.js';
import { check, skipped, unknown, wrong, type Check, type Verdict } from './check.js';
import type { Installation } from './installation.js';
import * as judge from './judge-docker.js';
import { once } from './once.js';

const IMAGES_MS = 20_000;
const TRY_MS = 60_000;

/** In the order of display. `gpus` supplies the cards' uuids. */
export function checkDocker(installation: Installation, gpus: () => Promise<Probed<GpusSeen>>): readonly Check[] {
  const { runtime } = installation.settings;
  switch (runtime) {
    case 'docker':
      return checkInstalled(installation, gpus);
    case 'process':
      return [check('docker', async () => skipped('TUNEPLANE_RUNTIME is process'))];
    default:
      return runtime satisfies never;
  }
}

function checkInstalled(installation: Installation, gpus: () => Promise<Probed<GpusSeen>>): readonly Check[] {
  const found = createDockerClient({ ...installation.env });
  if (found.kind === 'problem') {
    return [check('docker', async () => wrong(found.detail, 'correct DOCKER_HOST or the context'))];
  }
  return checkEngine(found, installation.tryImage, gpus);
}

function checkEngine(
  { docker, endpoint }: FoundClient & { readonly kind: 'found' },
  tryImage: string | null,
  gpus: () => Promise<Probed<GpusSeen>>,
): readonly Check[] {
  const version = once(() => askVersion(docker));
  const info = once(() => askInfo(docker));
  const uuids = async (): Promise<readonly string[]> => {
    const seen = await gpus();
    return seen.kind === 'blind' ? [] : seen.value.rows.flatMap(({ uuid }) => (uuid === null ? [] : [uuid]));
  };
  return [
    check('docker', async () => judge.judgeDocker(await version(), endpoint)),
    check('docker-api', async () => judge.judgeApi(await version())),
    check('podman', async () => judge.judgePodman(await version())),
    // Only CDI needs the cards' names, so a driver that hangs must not block the other findings.
    check(
      'gpu-support',
      async () => {
        const [engine, hook] = await Promise.all([info(), findHook(endpoint)]);
        const withCdi = engine.kind === 'seen' && engine.value.cdiDevices.length > 0;
        return judge.judgeGpuSupport(engine, { hook, uuids: withCdi ? await uuids() : [] });
      },
      TRY_MS,
    ),
    check('device-request', () => tryIt(), TRY_MS),
    check('cgroup-driver', async () => judge.judgeCgroupDriver(await info())),
    check(
      'images',
      async () => {
        const [images, engine, envHeeded] = await Promise.all([askImages(docker), info(), envIsHeeded()]);
        return judge.judgeImages(images, engine, { envHeeded });
      },
      IMAGES_MS,
    ),
    check('memlock', async () => judge.judgeMemlock(await version(), await lockedMemoryLimit(), await daemonsSeen())),
  ];

  async function tryIt(): Promise<Verdict> {
    if (tryImage === null) return judge.judgeTried(null);
    const last = (await uuids()).at(-1);
    if (last === undefined) return unknown('nvidia-smi shows no card that could be given, see above');
    return judge.judgeTried(await tryDeviceRequest(docker, tryImage, last));
  }
}

const TOOLKIT_CONFIG = '/etc/nvidia-container-runtime/config.toml';

/**
 * Whether the toolkit obeys `NVIDIA_VISIBLE_DEVICES` of an image; null where its file does not say, which means that it
 * does.
 */
async function envIsHeeded(): Promise<boolean | null> {
  const text = await readFile(TOOLKIT_CONFIG, 'utf8').catch(() => '');
  const setting = 'accept-nvidia-visible-devices-envvar-when-unprivileged';
  const line = text.split('\n').find((each) => each.trim().startsWith(setting));
  const said = /=\s*(true|false)/.exec(line ?? '')?.[1];
  return said === undefined ? null : said === 'true';
}
