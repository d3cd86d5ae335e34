/** Passwords of runs for the proxy of their machine, as hashes. */
import type { AdmittedRun } from '../../domain/operator/proxy-ports.ts';
import type { Db } from '../connection/database.ts';

interface Here {
  operator: string;
  machine: string;
}

/** Keeps the password of a run; a new one takes the place of the one before. */
export async function writePassword(db: Db, { operator, machine }: Here, run: AdmittedRun, now: Date): Promise<void> {
  const { runId, passwordHash, owner, entry } = run;
  const kept = {
    password_hash: passwordHash,
    owner: JSON.stringify(owner),
    entry: JSON.stringify(entry),
    made_at: now,
  };
  await db
    .insertInto('operator_proxy_passwords')
    .values({ run_id: runId, operator, machine, ...kept })
    .onConflict((conflict) => conflict.column('run_id').doUpdateSet(kept))
    .execute();
}

/** The password of a run is void. */
export async function deletePassword(db: Db, runId: string): Promise<void> {
  await db.deleteFrom('operator_proxy_passwords').where('run_id', '=', runId).execute();
}

/** Removes the passwords of a machine whose reconciles are over, and returns the runs that still have one. */
export async function takePasswords(db: Db, { operator, machine }: Here): Promise<AdmittedRun[]> {
  await db
    .deleteFrom('operator_proxy_passwords')
    .where('operator', '=', operator)
    .where('machine', '=', machine)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('operator_reconciles as c')
            .select('c.id')
            .whereRef('c.run_id', '=', 'operator_proxy_passwords.run_id')
            .where('c.ended_at', 'is', null),
        ),
      ),
    )
    .execute();
  const rows = await db
    .selectFrom('operator_proxy_passwords')
    .selectAll()
    .where('operator', '=', operator)
    .where('machine', '=', machine)
    .execute();
  return rows.map(({ run_id: runId, password_hash: passwordHash, owner, entry }) => ({
    ...{ runId, passwordHash, owner, entry },
  }));
}
