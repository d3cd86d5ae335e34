import { type RunWrite, type RunWrites, WRITES_LISTED } from '../../domain/operator/write-list.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import type { Db } from '../../store/connection/database.ts';
import { appendWrites, appendWriteTotal, readWrites, type TimedWrite } from '../../store/operator/writes.ts';

/** Writes that come together are stored together, ms. */
const TOGETHER_MS = 200;
/** After a failure, ms. */
const AGAIN_MS = 1_000;

export interface WriteRecord {
  /** Notes a write of a run; it is stored soon, and again and again while the database is away. */
  wrote(runId: string, write: RunWrite): void;
  /** Stores what is left of a run, whose writes are over. Throws where the database is away; it may be called again. */
  end(runId: string): Promise<void>;
  /** Stores what is left of all runs, as far as the database takes it. */
  close(): Promise<void>;
}

interface Noted {
  /** What an earlier process has stored; null until it was read. */
  before: RunWrites | null;
  /** Writes that this process was told of. */
  count: number;
  /** Writes that are listed in the database. */
  listed: number;
  waiting: TimedWrite[];
  /** Work on one run is done in order. */
  storing: Promise<void>;
}

/** Keeps the lists of what runs write: at most 1,000 of each run, and the number of all. */
export function openWriteRecord({
  db,
  clock,
  log,
}: {
  db: Db;
  clock(): Date;
  log: { warn(fields: object, message: string): void };
}): WriteRecord {
  const runs = new Map<string, Noted>();
  let timer: NodeJS.Timeout | null = null;

  const noted = (runId: string): Noted => {
    const there = runs.get(runId) ?? { before: null, count: 0, listed: 0, waiting: [], storing: Promise.resolve() };
    runs.set(runId, there);
    return there;
  };

  const store = async (runId: string, run: Noted): Promise<void> => {
    if (run.before === null) {
      run.before = await readWrites(db, runId);
      run.listed = run.before.listed.length;
    }
    const taken = run.waiting.length;
    const added = run.waiting.slice(0, Math.max(0, WRITES_LISTED - run.listed));
    await appendWrites(db, runId, added);
    run.listed += added.length;
    run.waiting.splice(0, taken);
  };

  const inOrder = (runId: string, run: Noted): Promise<void> => {
    const stored = run.storing.then(() => store(runId, run));
    run.storing = stored.catch(() => undefined);
    return stored;
  };

  const storeAll = async (): Promise<void> => {
    const open = [...runs].filter(([, { waiting }]) => waiting.length > 0);
    const failures = (await Promise.allSettled(open.map(([runId, run]) => inOrder(runId, run)))).flatMap((done) =>
      done.status === 'rejected' ? [done.reason as unknown] : [],
    );
    if (failures.length === 0) return;
    log.warn({ reason: messageOf(failures[0]) }, 'what runs wrote cannot be stored now; it is tried again');
    plan(AGAIN_MS);
  };

  const plan = (ms: number): void => {
    timer ??= setTimeout(() => {
      timer = null;
      void storeAll();
    }, ms);
  };

  const end = async (runId: string): Promise<void> => {
    const run = runs.get(runId);
    if (run === undefined) return;
    await inOrder(runId, run);
    const total = (run.before?.total ?? 0) + run.count;
    if (total > run.listed) await appendWriteTotal(db, runId, total, clock());
    runs.delete(runId);
  };

  return {
    wrote(runId, write) {
      const run = noted(runId);
      run.count += 1;
      // While the database is away no more is kept than is listed.
      if (run.waiting.length < WRITES_LISTED) run.waiting.push({ time: clock(), write });
      plan(TOGETHER_MS);
    },
    end,
    async close() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      await Promise.allSettled([...runs.keys()].map(end));
    },
  };
}
