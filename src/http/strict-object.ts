/** A form of an object with known keys and no other: what is misspelt is said, with the keys that are known. */

import { z } from 'zod';

export function strictObject<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const keys = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `unknown key; known here: ${keys}` : `expected an object with the keys ${keys}`,
  });
}
