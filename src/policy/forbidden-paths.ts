/** Folders of this machine that no job is ever given: whoever has one of them has the machine. */

/** As src/policy/README.md says it; `/var/run` is `/run` by a link on every machine of today, and containerd keeps the containers' own files. */
export const FORBIDDEN_PATHS = [
  '/etc',
  '/proc',
  '/sys',
  '/dev',
  '/run',
  '/var/run',
  '/var/lib/docker',
  '/var/lib/containerd',
] as const;
