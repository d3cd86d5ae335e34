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
  /** Whether its runs go on without it; default: they do. */
  outlived?: boolean;
}

/** A live process of this name, on another machine, watches other kinds: it is another operator. */
export class OtherOperator extends Error {
  override name = 'OtherOperator';
  readonly machine: string;

  constructor(machine: string) {
    super(`a process on ${machine} has this name and watches other kinds`);
    this.machine = machine;
  }
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

/** What an operator says of itself. */
export interface OperatorRow {
  name: string;
  home: string;
  version: string;
}

/** Where a process of an operator begins: its machine, and since when those of others have to be seen to be live. */
interface Beginning {
  machine: string;
  seenAfter: Date;
}

/**
 * Records an operator with what it watches; entries that it no longer has go. Throws `OtherOperator`, and what the database says to a login to
 * which the operator does not belong.
 */
export async function writeOperator(
  db: Db,
  { name, home, version }: OperatorRow,
  watches: readonly WatchRow[],
  now: Date,
  beginning?: Beginning,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('operators')
      .values({ name, home, version, registered_at: now })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ home, version }))
      .execute();
    await trx.selectFrom('operators').select('name').where('name', '=', name).forUpdate().execute();
    if (beginning !== undefined) await refuseOther(trx, name, watches, beginning);
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

/** Throws `OtherOperator` where live processes of other machines watch something, and nothing of these. */
async function refuseOther(
  trx: Db,
  operator: string,
  watches: readonly WatchRow[],
  { machine, seenAfter }: Beginning,
): Promise<void> {
  const other = await trx
    .selectFrom('operator_processes')
    .select('machine')
    .where('operator', '=', operator)
    .where('machine', '<>', machine)
    .where('seen_at', '>', seenAfter)
    .where('left_at', 'is', null)
    .orderBy('machine')
    .executeTakeFirst();
  if (other === undefined) return;
  const known = await trx
    .selectFrom('operator_watches')
    .select(['api_group', 'version', 'kind'])
    .where('operator', '=', operator)
    .execute();
  const isShared = known.some((one) =>
    watches.some(({ group, version, kind }) => group === one.api_group && version === one.version && kind === one.kind),
  );
  if (known.length > 0 && !isShared) throw new OtherOperator(other.machine);
}

/** Returns the time of the database. Signs of processes are held against it alone: the clocks of two hosts may differ. */
export async function databaseTime(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  return rows[0]?.now ?? new Date(0);
}

/** Says that a process is there. `engineReason`: why Temporal does not answer it; null: it does. */
export async function noteProcess(
  db: Db,
  { engineReason, ...process }: OperatorProcess & { engineReason: string | null },
  now: Date,
): Promise<void> {
  const { queue, slots, version, outlived = true } = process;
  const said = { queue, slots, version, outlived, seen_at: now, left_at: null, engine_reason: engineReason };
  await db
    .insertInto('operator_processes')
    .values({ ...process, ...said })
    .onConflict((conflict) => conflict.columns(['operator', 'machine']).doUpdateSet(said))
    .execute();
}

/** Says that a process takes no more runs. One that took its runs with it stays on record until others have seen to them. */
export async function forgetProcess(
  db: Db,
  { operator, machine, outlived = true }: Pick<OperatorProcess, 'operator' | 'machine' | 'outlived'>,
): Promise<void> {
  if (!outlived) {
    await db
      .updateTable('operator_processes')
      .set({ left_at: sql`now()` })
      .where('operator', '=', operator)
      .where('machine', '=', machine)
      .execute();
    return;
  }
  await db.deleteFrom('operator_processes').where('operator', '=', operator).where('machine', '=', machine).execute();
}

/** Forgets the processes that were not seen since a time, took their runs with them, and have no reconcile that is open. */
export async function forgetLeftProcesses(db: Db, operator: string, seenBefore: Date): Promise<void> {
  await sql`
    delete from operator_processes p where p.operator = ${operator} and not p.outlived and p.seen_at < ${seenBefore} and not exists (
      select from operator_reconciles c where c.operator = p.operator and c.machine = p.machine and c.ended_at is null)
  `.execute(db);
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
