/** What this installation is known by outside its database: an id that is made once, and that a restored database has again. */
import { randomUUID } from 'node:crypto';
import type { Db } from './database.ts';

/** The id; of several that make it at once one is the first, and its id counts. */
export async function installationId(db: Db): Promise<string> {
  const find = () => db.selectFrom('installation').select('id').executeTakeFirst();
  const known = await find();
  if (known !== undefined) return known.id;
  await db
    .insertInto('installation')
    .values({ id: randomUUID() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const made = await find();
  if (made === undefined) throw new Error('the id of the installation was made and is not there');
  return made.id;
}
