/** The form of one row of the table of routes. */

import type { ProblemCode } from '../http/problem.js';
import type { Role } from '../model/admission.js';

export interface Operation {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  /** Null: public. */
  readonly role: Role | null;
  /** Other roles that pass the door too; `needs` then says what decides behind it. */
  readonly alsoPass?: readonly Role[];
  readonly needs?: string;
  readonly parameters?: readonly object[];
  /** Name of the body's schema. */
  readonly body?: string;
  readonly answers: readonly OperationAnswer[];
  /** Besides `forbidden`, `internal` and, where a role is needed, `unauthenticated`. */
  readonly problems: readonly ProblemCode[];
}

export interface OperationAnswer {
  readonly status: number;
  readonly says: string;
  /** Name of a schema, or an inline one; none for an answer without a body. */
  readonly schema?: string | Readonly<Record<string, unknown>>;
  readonly media?: string;
  readonly headers?: readonly string[];
}

/** Of every route that takes a body. */
export const BODY_PROBLEMS = [
  'invalid_request',
  'unsupported_media_type',
  'too_large',
  'request_timeout',
  'headers_too_large',
] as const;
