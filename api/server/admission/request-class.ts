import type { GateLimits } from './request-gate.ts';

/**
 * Kinds of requests by what they cost, so that none waits for a dearer one: `quick` ones touch single records, `list` ones
 * read many, `bulk` ones write many or bring a large body, `remote` ones may wait for another server (git, the secret store, a
 * tenant registry, the engine). `free` ones say how the service is and are always answered; so are those by which pods wait for news, which do nothing meanwhile.
 */
export type RequestClass = 'free' | 'quick' | 'list' | 'bulk' | 'remote';

/** A body above this size, bytes, makes any write a bulk one. */
const LARGE_BODY = 64 * 1024;
const FREE =
  /\/(versions|healthz|livez|readyz|v2|v3|metrics)?$|\/api\/v1\/status$|\/jobs\/:session_id\/(next|teardown)$/;
/** Bodies that are taken in for minutes and hold nothing else up; they have a limit of their own. */
const UPLOAD = /\/api\/v1\/images$/;
const REMOTE =
  /\/apis\/ims(\/v2)?\/jobs(\/|$)|\/(configurations|sources|secrets)(\/|$)|\/sessions\/[^/]+\/(cancel|retry|finish-debug)$|\/runs\/[^/]+\/end$/;
/** Temporal's web UI. */
const OF_ENGINE = /^\/temporal(\/|$)/;
/** Reads for which the tenant registry is asked first; version 2 shows the same to everybody. */
const OF_TENANTS = /\/v3\/configurations(\/|$)/;

/** What is known of a body: its length in bytes, and whether it is a JSON object. */
export interface BodyShape {
  length: number;
  isObject: boolean;
}

const NO_BODY: BodyShape = { length: 0, isObject: false };

/**
 * The class of a request by its method, the pattern of its route (`/v3/components/:id`, with prefix), its body, and whether
 * it is made for a tenant.
 */
export function classOfRequest(method: string, pattern: string, body = NO_BODY, isOfTenant = false): RequestClass {
  const isRead = method === 'GET' || method === 'HEAD';
  if (isRead && FREE.test(pattern)) return 'free';
  if (OF_ENGINE.test(pattern)) return 'remote';
  if (isRead && isOfTenant && OF_TENANTS.test(pattern)) return 'remote';
  const isOfOne = /\/:[^/]+$/.test(pattern);
  if (isRead) return isOfOne || pattern.endsWith('/options') ? 'quick' : 'list';
  if (method === 'POST' && UPLOAD.test(pattern)) return 'free';
  if (body.length > LARGE_BODY) return 'bulk';
  if (REMOTE.test(pattern)) return 'remote';
  // Deletes of many, and changes of all components that match: nobody knows yet how many.
  const isOfMany = (method === 'DELETE' && !isOfOne) || (pattern.endsWith('/components') && body.isObject);
  return isOfMany ? 'bulk' : 'quick';
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
