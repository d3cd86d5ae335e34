/** Operators, their processes, and what they watch. */
import { sql } from 'kysely';
import type { WatchState } from '../../domain/operator/resource-words.ts';
import type { Db } from '../connection/database.ts';

export interface OperatorProcess {
  operator: string;
  /** Id of its data directory. */
  machine: string;
  /** Task queue of its runs. */
  queue: string;
  /** Runs at once, all kinds together. */
  slots: number;
  version: string;
}

export interface WatchRow {
  group: string;
  version: string;
  kind: string;
  entryHash: string;
  slots: number;
  /** Name of the finalizer of its resources; null: they have none. */
  finalizer: string | null;
}

/** Records an operator with what it watches; entries that it no longer has go. */
export async function writeOperator(
  db: Db,
  { name, home, version }: { name: string; home: string; version: string },
  watches: readonly WatchRow[],
  now: Date,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('operators')
      .values({ name, home, version, registered_at: now })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ home, version }))
      .execute();
    await trx.selectFrom('operators').select('name').where('name', '=', name).forUpdate().execute();
    const kept = watches.map(({ group, version: of, kind }) => `${group}/${of}/${kind}`);
    await trx
      .deleteFrom('operator_watches')
      .where('operator', '=', name)
      .where(sql<boolean>`not (api_group || '/' || version || '/' || kind = any(${kept}))`)
      .execute();
    for (const { group, version: of, kind, entryHash, slots, finalizer } of watches) {
      const now_ = { entry_hash: entryHash, slots, finalizer, updated_at: now };
      await trx
        .insertInto('operator_watches')
        .values({ operator: name, api_group: group, version: of, kind, state: 'starting', ...now_ })
        .onConflict((conflict) => conflict.columns(['operator', 'api_group', 'version', 'kind']).doUpdateSet(now_))
        .execute();
    }
  });
}

/** Says that a process is there. `engineReason`: why Temporal does not answer it; null: it does. */
export async function noteProcess(
  db: Db,
  { engineReason, ...process }: OperatorProcess & { engineReason: string | null },
  now: Date,
): Promise<void> {
  const { queue, slots, version } = process;
  const said = { queue, slots, version, seen_at: now, engine_reason: engineReason };
  await db
    .insertInto('operator_processes')
    .values({ ...process, ...said })
    .onConflict((conflict) => conflict.columns(['operator', 'machine']).doUpdateSet(said))
    .execute();
}

/** Says that a process takes no more runs. */
export async function forgetProcess(
  db: Db,
  { operator, machine }: Pick<OperatorProcess, 'operator' | 'machine'>,
): Promise<void> {
  await db.deleteFrom('operator_processes').where('operator', '=', operator).where('machine', '=', machine).execute();
}

/**
 * Takes or renews the lock of the operator that lets one process watch. Its own machine gets it back at once; another one has to wait for the
 * end of the lease, and then for `graceMs` more. Returns whether the machine has it.
 */
export async function takeWatchLock(
  db: Db,
  { operator, machine }: Pick<OperatorProcess, 'operator' | 'machine'>,
  { leaseMs, graceMs }: { leaseMs: number; graceMs: number },
  now: Date,
): Promise<boolean> {
  const result = await db
    .updateTable('operators')
    .set({ watcher: machine, watch_lease_until: new Date(now.getTime() + leaseMs) })
    .where('name', '=', operator)
    .where((is) =>
      is.or([
        is('watcher', 'is', null),
        is('watcher', '=', machine),
        is('watch_lease_until', '<', new Date(now.getTime() - graceMs)),
      ]),
    )
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Gives the lock back, so that another process need not wait. */
export async function releaseWatchLock(
  db: Db,
  { operator, machine }: Pick<OperatorProcess, 'operator' | 'machine'>,
): Promise<void> {
  await db
    .updateTable('operators')
    .set({ watcher: null, watch_lease_until: null })
    .where('name', '=', operator)
    .where('watcher', '=', machine)
    .execute();
}

/** Notes whether the kind of an entry can be watched, and why not. */
export async function noteWatchState(
  db: Db,
  { operator, group, version, kind }: { operator: string; group: string; version: string; kind: string },
  state: WatchState,
  reason: string | null,
  now: Date,
): Promise<void> {
  await db
    .updateTable('operator_watches')
    .set({ state, reason, updated_at: now })
    .where('operator', '=', operator)
    .where('api_group', '=', group)
    .where('version', '=', version)
    .where('kind', '=', kind)
    .execute();
}
