/** Folders of this machine that no job ever gets: access to one of them means control of the machine. */

/**
 * As src/policy/README.md lists them; `/var/run` is a link to `/run` on every current distribution, and containerd keeps the
 * containers' own files.
 */
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
