/** Logins of operators: each sees the rows of its own operators alone. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { OperatorLogin } from '../../domain/operator/operator-login.ts';
import type { Db } from '../connection/database.ts';

/** Rounds and length of a password as Postgres keeps it. */
const ROUNDS = 4_096;
const BYTES = 32;

/** The operator belongs to another login. */
export class OtherLogin extends Error {
  override name = 'OtherLogin';
}

/**
 * Makes the group role of operators and these logins with their passwords, and gives each its operator, as the owner of Muster's tables who may make
 * roles. Repeating it is harmless; a password that is another one by now is changed. Throws `OtherLogin`, and what the database says.
 */
export async function makeOperatorLogins(
  db: Db,
  logins: readonly (OperatorLogin & { password: string })[],
  now: Date,
): Promise<void> {
  if (logins.length === 0) return;
  await db.transaction().execute(async (trx) => {
    // Another database of the server may have it, or make it at this moment.
    await sql`do $$ begin create role muster_operator nologin; exception when duplicate_object or unique_violation then null; end $$`.execute(
      trx,
    );
    for (const { operator, login, password } of logins) {
      const { rows } = await sql`select from pg_roles where rolname = ${login}`.execute(trx);
      // No statement has the password in it, which may be logged.
      const verifier = sql.lit(scramOf(password));
      if (rows.length === 0) await sql`create role ${sql.id(login)} login password ${verifier}`.execute(trx);
      else await sql`alter role ${sql.id(login)} login password ${verifier}`.execute(trx);
      await sql`grant muster_operator to ${sql.id(login)}`.execute(trx);
      await trx
        .insertInto('operators')
        .values({ name: operator, home: '', version: '', db_role: login, registered_at: now })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .execute();
      const known = await trx
        .selectFrom('operators')
        .select('db_role')
        .where('name', '=', operator)
        .executeTakeFirstOrThrow();
      if (known.db_role !== login)
        throw new OtherLogin(`the operator ${operator} belongs to the login ${known.db_role}`);
    }
    await sql`select muster_grant_operators()`.execute(trx);
  });
}

/** What Postgres keeps of a password (SCRAM-SHA-256). */
function scramOf(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ROUNDS, BYTES, 'sha256');
  const keyOf = (word: string): Buffer => createHmac('sha256', salted).update(word).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ROUNDS}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`;
}
