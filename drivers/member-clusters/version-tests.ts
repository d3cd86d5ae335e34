/** Whether clusters answer at all: work that wants to know it at the same time asks once, and an answer of a moment ago is enough for it. */
import type { VersionAnswer } from '../../domain/deployments/ports.ts';

/** Clusters that were not heard of for so long are forgotten, ms. */
const FORGET_MS = 60_000;

export interface VersionTests {
  /**
   * Returns what a cluster said at most `heardMs` ago, or the answer to a test that is under way with the same time limit; else asks.
   * @param key of the credential
   */
  share(
    key: string,
    limits: { withinMs: number; heardMs: number },
    ask: () => Promise<VersionAnswer>,
  ): Promise<VersionAnswer>;
  /** The cluster has just told its version. */
  told(key: string, answer: VersionAnswer): void;
  /** The cluster has just answered a call. */
  heard(key: string): void;
  /** A call has had no answer, or one that says that the cluster cannot be worked with. */
  lost(key: string): void;
}

export function createVersionTests(): VersionTests {
  const known = new Map<string, { answer: VersionAnswer; at: number }>();
  const underWay = new Map<string, Promise<VersionAnswer>>();
  return {
    async share(key, { withinMs, heardMs }, ask) {
      const last = known.get(key);
      if (last !== undefined && performance.now() - last.at <= heardMs) return last.answer;
      const test = `${key} ${withinMs}`;
      const shared = underWay.get(test);
      if (shared !== undefined) return await shared;
      const asked = ask().finally(() => underWay.delete(test));
      underWay.set(test, asked);
      return await asked;
    },
    told(key, answer) {
      const now = performance.now();
      for (const [old, { at }] of known) if (now - at > FORGET_MS) known.delete(old);
      if ('version' in answer) known.set(key, { answer, at: now });
    },
    heard(key) {
      const last = known.get(key);
      if (last !== undefined) last.at = performance.now();
    },
    lost: (key) => void known.delete(key),
  };
}
