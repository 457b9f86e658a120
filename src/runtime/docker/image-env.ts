/** Variables in an image's own environment that only the gate may set. */

import { z } from 'zod';

/**
 * They load foreign code into every program of the container, and where a hook of the driver runs with the container's
 * environment, into that hook: as root, outside of the container (CVE-2025-23266).
 */
const REFUSED = ['LD_PRELOAD', 'LD_AUDIT'];

/** Through these, NVIDIA's runtime and CUDA grant or hide cards, besides what the gate requests: no job inherits them. */
export const ALWAYS_HIDDEN = [
  'CUDA_VISIBLE_DEVICES',
  'NVIDIA_IMEX_CHANNELS',
  'NVIDIA_MIG_CONFIG_DEVICES',
  'NVIDIA_MIG_MONITOR_DEVICES',
];

/** The variable names in an image's environment, from its inspect; null where the body is invalid. */
export function namesIn(body: unknown): readonly string[] | null {
  const parsed = inspected.safeParse(body);
  if (!parsed.success) return null;
  return (parsed.data.Config?.Env ?? []).map((entry) => entry.split('=', 1)[0] ?? '');
}

/** Why no job may start from an image with these variables; null where it may. */
export function refusal(image: string, names: readonly string[]): string | null {
  const found = REFUSED.filter((name) => names.includes(name));
  if (found.length === 0) return null;
  return `the image ${image} sets ${found.join(' and ')} in its own environment, which no job may have`;
}

/** Further variables of that kind that this image sets. */
export function moreToHide(names: readonly string[]): readonly string[] {
  return names.filter((name) => name.startsWith('NVIDIA_MIG_') && !ALWAYS_HIDDEN.includes(name));
}

const inspected = z.object({ Config: z.object({ Env: z.array(z.string()).nullish() }).nullish() });
