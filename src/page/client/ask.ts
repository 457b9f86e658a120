/** Fetches the gate's status once. Any result is a value, never an exception. */

import type { Status } from './status.js';

export type Answer =
  | { readonly kind: 'status'; readonly status: Status }
  /** No response, or not in time. */
  | { readonly kind: 'gone' }
  /** A response, but not the expected one. */
  | { readonly kind: 'failed'; readonly detail: string }
  /** The gate requires a token, or another one. */
  | { readonly kind: 'token'; readonly detail: string };

/** The gate shows a probe as blind after 5 s; a response that takes twice as long counts as none. */
const WITHIN_MS = 10_000;

export async function ask(token: string | null): Promise<Answer> {
  try {
    const answer = await fetch('status.json', { signal: AbortSignal.timeout(WITHIN_MS), ...withToken(token) });
    const body: unknown = await answer.json();
    if (answer.ok) return { kind: 'status', status: body as Status };
    const detail = detailOf(body) ?? `status ${answer.status}`;
    // 403 without a token is about the `Host`, and no token would help.
    const wantsToken = answer.status === 401 || (answer.status === 403 && token !== null);
    return wantsToken ? { kind: 'token', detail } : { kind: 'failed', detail };
  } catch (error) {
    // An error page of a proxy is not JSON.
    return error instanceof SyntaxError ? { kind: 'failed', detail: 'the answer is not JSON' } : { kind: 'gone' };
  }
}

/** The headers with the token; empty without one. */
export function withToken(token: string | null): RequestInit {
  return token === null ? {} : { headers: { Authorization: `Bearer ${token}` } };
}

function detailOf(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('detail' in body)) return null;
  return typeof body.detail === 'string' ? body.detail : null;
}
