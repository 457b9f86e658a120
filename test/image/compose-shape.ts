import { z } from 'zod';

/** A string that Compose parses as a string: a bare `yes`, `1` or `null` in YAML would be something else. */
const text = z.string();
const texts = z.array(text);

/** `source:target` or `source:target:ro`; a source is a path, or the name of a volume. */
const mount = z.string().regex(/^[^:]+:\/[^:]+(:ro)?$/);

/** `address:host port:container port`; without an address the port would be open to everybody. */
const port = z.string().regex(/^.+:\d+:\d+$/);

const service = z.strictObject({
  build: z.strictObject({ context: text, args: z.record(z.string(), text) }).optional(),
  cap_drop: texts.optional(),
  command: texts.optional(),
  container_name: text.optional(),
  depends_on: texts.optional(),
  deploy: z
    .strictObject({
      resources: z.strictObject({
        reservations: z.strictObject({
          devices: z.array(z.strictObject({ driver: text, count: z.literal('all'), capabilities: texts })),
        }),
      }),
    })
    .optional(),
  device_cgroup_rules: texts.optional(),
  environment: z.record(z.string(), text).optional(),
  extra_hosts: z.array(z.string().regex(/^[\w-]+:\S+$/)).optional(),
  group_add: texts.optional(),
  image: z.string().regex(/^[a-z0-9/-]+:v?\d+\.\d+\.\d+(-\w+)?$/, 'an image with a whole version as its tag'),
  network_mode: z.enum(['host', 'none', 'bridge']).optional(),
  pid: z.literal('host').optional(),
  ports: z.array(port).optional(),
  profiles: texts.optional(),
  restart: z.enum(['no', 'always', 'on-failure', 'unless-stopped']),
  secrets: texts.optional(),
  security_opt: texts.optional(),
  stop_grace_period: z
    .string()
    .regex(/^\d+s$/)
    .optional(),
  user: text.optional(),
  volumes: z.array(mount).optional(),
});

/**
 * The part of the Compose specification that compose.yaml uses: strict, so that a misspelt key is detected. Stricter than
 * the specification where a default would be risky: pinned images, a restart policy, strings as strings.
 */
export const composeShape = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]*$/),
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()),
  secrets: z.record(z.string(), z.strictObject({ environment: text })),
});

/** A parsed compose.yaml. */
export type Compose = z.infer<typeof composeShape>;

/** One service of it. */
export type Service = Compose['services'][string];
