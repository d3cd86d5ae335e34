/** Counts the calls to member clusters by what their answers mean. A worker writes its counts now and then: a call waits for no counter. */
import { setTimeout as rest } from 'node:timers/promises';
import type { AnswerClass } from '../../domain/deployments/answer-class.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import type { Db } from '../../store/connection/database.ts';
import { countEach } from '../../store/connection/tallies.ts';

/** Time between two writes; what was counted since the last one is lost with a worker that is killed, ms. */
const WRITE_MS = 5_000;

/** Words of the metric. */
const WORDS: Readonly<Record<AnswerClass['is'], string>> = {
  accepted: 'accepted',
  absent: 'absent',
  'being-deleted': 'being_deleted',
  unreachable: 'unreachable',
  refused: 'refused',
  'ask-version': 'fault',
  changed: 'changed',
};

export interface CallCounts {
  /** Counts a call by what its answer means. */
  count(said: AnswerClass): void;
  /** Adds to the metric what was counted since the last time. What cannot be written is kept for the next time. Throws what the database throws. */
  write(db: Db): Promise<void>;
}

export function createCallCounts(): CallCounts {
  let counts = new Map<string, number>();
  const add = (word: string, more: number) => counts.set(word, (counts.get(word) ?? 0) + more);
  return {
    count: ({ is }) => void add(WORDS[is], 1),
    write: async (db) => {
      const taken = counts;
      counts = new Map();
      try {
        await countEach(db, 'cluster_calls', taken);
      } catch (error) {
        for (const [word, more] of taken) add(word, more);
        throw error;
      }
    },
  };
}

export interface CountDependencies {
  db: Db;
  log: { warn(fields: object, message: string): void };
  counts: CallCounts;
}

/** Writes the counts until the returned stop, and what is left at the stop. */
export function keepCounts({ db, log, counts }: CountDependencies, everyMs = WRITE_MS): () => Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;
  const write = () =>
    counts
      .write(db)
      .catch((error) => log.warn({ err: messageOf(error) }, 'calls to member clusters cannot be counted now'));
  const keep = async () => {
    while (!signal.aborted) {
      await rest(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
      await write();
    }
  };
  const keeping = keep();
  return async () => {
    stopped.abort();
    await keeping;
  };
}
