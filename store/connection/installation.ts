import type { Db } from './database.ts';

/** What this installation is known by outside its database: an id that is made with the tables, and that a restored database has again. */
export async function readInstallationId(db: Db): Promise<string> {
  const { id } = await db.selectFrom('installation').select('id').executeTakeFirstOrThrow();
  return id;
}
