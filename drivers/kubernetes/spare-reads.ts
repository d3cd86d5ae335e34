import { isMusterError } from '../../domain/errors.ts';
import type { ClusterClient } from './cluster-client.ts';
import { ABSENT, FORBIDDEN } from './statuses.ts';

/** How old an answer may be, ms. */
const FRESH_MS = 5_000;
/** How long a refusal is taken for the answer, ms. */
const REFUSED_MS = 300_000;

/** What is asked of a cluster only to say more exactly what is the matter. */
export interface SpareReads<T> {
  /**
   * The answer, not older than 5 s. Null when it may not be read, which is then not tried for 5 min, or cannot be now. Never
   * fails.
   */
  read(path: string, query?: Record<string, string>): Promise<T | null>;
}

/** `keep` takes of an answer what is asked about, since it is kept for a while; `absent`: what is said when there is no such thing. */
export function openSpareReads<Body, T>(client: ClusterClient, keep: (body: Body) => T, absent: T): SpareReads<T> {
  const known = new Map<string, { answer: Promise<T | null>; until: number }>();
  let refusedUntil = 0;

  const ask = async (path: string, query?: Record<string, string>): Promise<T | null> => {
    try {
      const request = { method: 'GET', path, expected: [FORBIDDEN, ABSENT], ...(query ? { query } : {}) } as const;
      const { status, body } = await client.ask<Body>(request);
      if (status === FORBIDDEN) {
        refusedUntil = Date.now() + REFUSED_MS;
        return null;
      }
      return status === ABSENT ? absent : keep(body);
    } catch (error) {
      if (isMusterError(error)) return null;
      throw error;
    }
  };

  return {
    async read(path, query) {
      const now = Date.now();
      if (now < refusedUntil) return null;
      const key = `${path}?${JSON.stringify(query ?? {})}`;
      for (const [name, { until }] of known) if (until < now) known.delete(name);
      const fresh = known.get(key);
      if (fresh !== undefined) return await fresh.answer;
      const answer = ask(path, query);
      known.set(key, { answer, until: now + FRESH_MS });
      return await answer;
    },
  };
}
