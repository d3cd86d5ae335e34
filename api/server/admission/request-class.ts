import type { GateLimits } from './request-gate.ts';

/**
 * Kinds of requests by what they cost, so that no request waits for a dearer kind: `quick` requests touch single records, `list`
 * requests read many, `bulk` requests write many or bring a large body, `remote` requests may wait for another server (git, the
 * secret store, a tenant registry, Temporal). `free` requests take no place and are always let in: they say how the service is, wait
 * for news as pods do, or bring an upload, which has a limit of its own.
 */
export type RequestClass = 'free' | 'quick' | 'list' | 'bulk' | 'remote';

/** A body above this size, bytes, makes any write a bulk one. */
const LARGE_BODY = 64 * 1024;

/** What is known of a request beside its route. */
export interface RequestShape {
  /** Length of the body (bytes). */
  length: number;
  /** Whether the body is a JSON object. */
  isObject: boolean;
  /** Whether the request is made for a tenant. */
  isOfTenant: boolean;
}

/** A request without body, for the administrator. */
const PLAIN: RequestShape = { length: 0, isObject: false, isOfTenant: false };

/** What a route says of the cost of its requests: a class, or a function that has the last word. */
export type RouteClass = RequestClass | ((shape: RequestShape) => RequestClass);

/** A write of listed records, or of all records that match the filters of an object: how many these are is not known yet. */
export const bulkIfObject: RouteClass = ({ length, isObject }) => (isObject || length > LARGE_BODY ? 'bulk' : 'quick');

/**
 * The class of a request of a route. A large body makes each write a `bulk` request, unless the route is `free` or decides by a
 * function. A path of no route is `quick`.
 */
export function classOf(
  declared: RouteClass | undefined,
  method: string,
  shape: Partial<RequestShape> = {},
): RequestClass {
  const known = { ...PLAIN, ...shape };
  if (declared === undefined) return 'quick';
  if (typeof declared === 'function') return declared(known);
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead || declared === 'free' || known.length <= LARGE_BODY ? declared : 'bulk';
}

/**
 * The limits of each class when `requests` quick ones may be worked on at once. One process does one thing at a time and has
 * ten connections to the database, so that more at once only makes each slower: 16 keep both busy.
 */
export function gateLimits(requests: number): Record<Exclude<RequestClass, 'free'>, GateLimits> {
  const share = (part: number) => Math.max(1, Math.round(requests * part));
  return {
    // Two thousand nodes that report at the same moment wait, and all are heard.
    quick: { active: requests, burst: 2_500, patience: 300, longest: 20_000 },
    list: { active: share(1 / 4), burst: 200, patience: 1_000, longest: 15_000 },
    bulk: { active: share(1 / 8), burst: 100, patience: 10_000, longest: 60_000 },
    remote: { active: share(1), burst: 500, patience: 5_000, longest: 30_000 },
  };
}
