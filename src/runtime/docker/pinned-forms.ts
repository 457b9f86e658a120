/**
 * The ways in which a container gets cards besides a device request, each as ids: a uuid, an index, a MIG id, a device file,
 * `all`.
 */

/** `0,1`, `GPU-…`, `all`, or CDI names; `void`, `none` and an empty text name no card. */
export function idsIn(list: string): readonly string[] {
  const ids = list.split(',').map((id) => id.trim().replace(CDI_NAME, ''));
  return ids.filter((id) => id !== '' && id !== 'void' && id !== 'none');
}

/** Whether the list contains a CDI name of a card. */
export function isCdi(list: string): boolean {
  return list.split(',').some((name) => CDI_NAME.test(name.trim()));
}

/** `nvidia.com/gpu=`, the toolkit's own `runtime.nvidia.com/gpu=` and similar, and the class of MIG devices. */
const CDI_NAME = /^(?:[a-z-]+\.)?nvidia\.com\/(?:gpu|mig)=/;

/** From the image or from the container's creator; of two entries the last counts. */
export function fromEnvironment(env: readonly string[]): readonly string[] {
  const prefix = 'NVIDIA_VISIBLE_DEVICES=';
  const last = env.findLast((entry) => entry.startsWith(prefix));
  return last === undefined ? [] : idsIn(last.slice(prefix.length));
}

/**
 * The assignment of Docker Swarm's scheduler: `DOCKER_RESOURCE_<KIND>=GPU-8f33…,GPU-…`, with the kind as the operator named
 * it in `node-generic-resources`, and the uuid often shortened (NVIDIA's runtime reads it by `swarm-resource` in its
 * config.toml). A kind whose name does not mention GPUs may count anything: of it only values in the form of a card's uuid
 * are used.
 */
export function fromSwarm(env: readonly string[]): readonly string[] {
  return env.flatMap((entry) => {
    const [, kind = '', value = ''] = /^DOCKER_RESOURCE_([^=]+)=(.*)$/s.exec(entry) ?? [];
    const ids = idsIn(value).filter((id) => id !== 'all');
    return /gpu/i.test(kind) ? ids : ids.filter((id) => /^(?:MIG-)?GPU-|^MIG-/i.test(id));
  });
}

/**
 * `accept-nvidia-visible-devices-as-volume-mounts`: a mount (of /dev/null) at `/var/run/nvidia-container-devices/<id>`, or
 * `…/cdi/<vendor>/<class>/<name>`; `…/imex/…` gives channels and no card.
 */
export function fromVolumeMounts(destinations: readonly string[]): readonly string[] {
  return destinations.flatMap((path) => {
    const id = /^(?:\/var)?\/run\/nvidia-container-devices\/(.+)$/.exec(path)?.[1];
    if (id === undefined || id.startsWith('imex/')) return [];
    const cdi = /^cdi\/([^/]+\/[^/]+)\/(.+)$/.exec(id);
    if (cdi === null) return idsIn(id);
    const name = `${cdi[1]}=${cdi[2]}`;
    return isCdi(name) ? idsIn(name) : [];
  });
}

/** `/dev/nvidia3` unchanged; a CDI name where an engine lists one among the devices; the whole of `/dev` is every card. */
export function fromDevices(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    if (/^\/dev\/?$/.test(path)) return ['all'];
    return isCdi(path) ? idsIn(path) : cardFiles([path]);
  });
}

/** Device files of cards among the mounts. A mount of all of `/dev` gives no access by itself. */
export function cardFiles(sources: readonly string[]): readonly string[] {
  return sources.filter((path) => /^\/dev\/nvidia\d+$/.test(path));
}
