/** A schema for an object that refuses unknown keys and lists the known ones. */

import { z } from 'zod';

export function strictObject<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const keys = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `unknown key; known here: ${keys}` : `expected an object with the keys ${keys}`,
  });
}
