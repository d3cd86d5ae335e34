/** Machines with a worker that starts runs, each by its own word. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

/** Kind of the machines whose runs are those of sessions, and of all lanes that share their worker. */
export const SESSION_MACHINES = 'sessions';

export interface RunMachine {
  /** Id of its data directory. */
  machine: string;
  /** Task queue of its worker. */
  queue: string;
  kind: string;
}

/** Says that a machine is there. */
export async function noteRunMachine(db: Db, { machine, queue, kind }: RunMachine, now: Date): Promise<void> {
  await db
    .insertInto('run_machines')
    .values({ machine, queue, kind, seen_at: now })
    .onConflict((conflict) => conflict.column('machine').doUpdateSet({ queue, kind, seen_at: now }))
    .execute();
}

/**
 * Machines of a kind that a sweep visits, sorted: those that said since `seenAfter` that they are there, and those with runs whose end
 * is not on record. Of kind `sessions` also those that only runs name: an older release that runs beside this one does not say so.
 */
export async function runMachines(db: Db, kind: string, seenAfter: Date): Promise<string[]> {
  const named = sql`select distinct host from runs where not exists (select from run_machines where machine = runs.host)`;
  const { rows } = await sql<{ machine: string }>`
    select machine from run_machines m
    where kind = ${kind} and (seen_at > ${seenAfter}
      or exists (select from runs where host = m.machine))
    ${kind === SESSION_MACHINES ? sql`union ${named}` : sql``}
    order by machine
  `.execute(db);
  return rows.map(({ machine }) => machine);
}

/** Removes machines that have said nothing since a time and have no runs. */
export async function forgetRunMachines(db: Db, seenBefore: Date): Promise<void> {
  await sql`
    delete from run_machines m where seen_at < ${seenBefore} and not exists (select from runs where host = m.machine)
  `.execute(db);
}
