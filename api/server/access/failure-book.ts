import type { FastifyReply } from 'fastify';
import {
  afterFailure,
  FAILURE_RULES,
  type FailureCount,
  isLoopback,
  LOOPBACK_RULES,
  sourceOf,
  waitOf,
} from '../../../domain/access/failure-limit.ts';
import { tokenKindOf, tokenStart } from '../../../domain/access/token-format.ts';
import { type MusterError, musterError } from '../../../domain/errors.ts';

/** Sources that are remembered at once; beyond that the one that failed least recently is forgotten. */
const MAX_SOURCES = 10_000;
/** Good tokens that are remembered. */
const MAX_GOOD = 10_000;

/** Tokens from addresses of many wrong ones that are looked at at once, so that a flood of them leaves room for others. */
export const DOUBTFUL_AT_ONCE = 2;

/** The refusal of a wrong token, with the time after which another may come. */
export function tooManyFailures(reply: FastifyReply, wait: number): MusterError {
  const seconds = Math.ceil(wait / 1000);
  reply.header('retry-after', String(seconds));
  return musterError('too_many_failures', `Too many wrong tokens came from here; try again in ${seconds} s`);
}

/** Who failed to log in how often, in this process; bounded, whatever comes. */
export interface FailureBook {
  /**
   * Milliseconds that failures from an address, or with the beginning of a token, are to wait; 0: none. A credential that is right is let in
   * all the same.
   */
  wait(address: string, token: string | null, now: number): number;
  /** A credential was refused. */
  failed(address: string, token: string | null, now: number): void;
  /** A token was accepted: the failures of others behind its address do not stop it from now on. */
  accepted(token: string): void;
}

/**
 * Counts by address (IPv6: /64) and, for tokens of ours, by their beginning, so that one token tried from many addresses is
 * limited too.
 * @param fingerprint of a token; what it answers is kept, the token is not
 */
export function openFailureBook(fingerprint: (token: string) => string): FailureBook {
  const counts = new Map<string, FailureCount>();
  const good = new Set<string>();

  const sources = (address: string, token: string | null) => [
    { key: `address ${sourceOf(address)}`, rules: isLoopback(address) ? LOOPBACK_RULES : FAILURE_RULES },
    ...(token !== null && tokenKindOf(token) !== null
      ? [{ key: `token ${tokenStart(token)}`, rules: isLoopback(address) ? LOOPBACK_RULES : FAILURE_RULES }]
      : []),
  ];

  return {
    wait: (address, token, now) => {
      // Nothing has failed: the usual case costs nothing.
      if (counts.size === 0 || (token !== null && good.has(fingerprint(token)))) return 0;
      return Math.max(...sources(address, token).map(({ key }) => waitOf(counts.get(key), now)));
    },
    failed: (address, token, now) => {
      if (token !== null) good.delete(fingerprint(token));
      for (const { key, rules } of sources(address, token)) {
        const count = afterFailure(counts.get(key), now, rules);
        counts.delete(key);
        counts.set(key, count);
      }
      for (const key of counts.keys()) {
        if (counts.size <= MAX_SOURCES) break;
        counts.delete(key);
      }
    },
    accepted: (token) => {
      const mark = fingerprint(token);
      if (good.has(mark)) return;
      good.add(mark);
      for (const first of good) {
        if (good.size <= MAX_GOOD) break;
        good.delete(first);
      }
    },
  };
}
