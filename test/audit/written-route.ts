import type { TokenApi } from '../support/stack/token-api.ts';

/** What is expected of a record: action, kind, name, before and after. */
export type Expected = [action: string, kind: string, name: string, before: unknown, after: unknown];

export interface WrittenRoute {
  /** Path, `{v}` filled in; `{id}` is what `prepare` returns. */
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** What has to be there before. */
  prepare?: (api: TokenApi, send: Send) => Promise<unknown>;
  /** In the order in which they are written; empty with the reason in `nothing`. */
  records: Expected[];
  /** Why the route leaves no record. */
  nothing?: string;
}

/** Sends as the administrator and demands success; answers the body. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Send = (method: string, path: string, body?: unknown) => Promise<any>;

/** Whatever has all of `value`. */
export const some = (value: unknown) => ({ asymmetricMatch: (other: unknown) => contains(other, value) });

/** Whether `whole` has all that `part` has, in any depth; functions in `part` judge for themselves. */
function contains(whole: unknown, part: unknown): boolean {
  if (typeof part === 'function') return part(whole) === true;
  if (part === null || typeof part !== 'object') return Object.is(whole, part);
  if (whole === null || typeof whole !== 'object') return false;
  if (Array.isArray(part) && (whole as unknown[]).length !== part.length) return false;
  return Object.entries(part).every(([key, value]) => contains(Reflect.get(whole, key), value));
}
