/** What an image says in its own environment that is for the gate alone to say. */

import { z } from 'zod';

/**
 * They load foreign code into every program of the container, and where a hook of the driver runs with the container's
 * environment, into that hook: as root, outside of the container (CVE-2025-23266).
 */
const REFUSED = ['LD_PRELOAD', 'LD_AUDIT'];

/** By these NVIDIA's runtime and CUDA give cards, or keep them away, beside what the gate asks for: no job takes them over. */
export const ALWAYS_HIDDEN = [
  'CUDA_VISIBLE_DEVICES',
  'NVIDIA_IMEX_CHANNELS',
  'NVIDIA_MIG_CONFIG_DEVICES',
  'NVIDIA_MIG_MONITOR_DEVICES',
];

/** The names in the environment of an image, from the body of its inspect; null where the body makes no sense. */
export function namesIn(body: unknown): readonly string[] | null {
  const parsed = inspected.safeParse(body);
  if (!parsed.success) return null;
  return (parsed.data.Config?.Env ?? []).map((entry) => entry.split('=', 1)[0] ?? '');
}

/** Why no job is started from an image with these; null where nothing is against it. */
export function refusal(image: string, names: readonly string[]): string | null {
  const found = REFUSED.filter((name) => names.includes(name));
  if (found.length === 0) return null;
  return `the image ${image} sets ${found.join(' and ')} in its own environment, which no job may have`;
}

/** More of that kind which this image sets. */
export function moreToHide(names: readonly string[]): readonly string[] {
  return names.filter((name) => name.startsWith('NVIDIA_MIG_') && !ALWAYS_HIDDEN.includes(name));
}

const inspected = z.object({ Config: z.object({ Env: z.array(z.string()).nullish() }).nullish() });
