import { type Kysely, sql } from 'kysely';

/**
 * Which components have a tag: lists and patches ask for that. What was written last waits in a list of 256 kB at most, which a reader goes
 * through; a longer list would make one writer in a while wait for all of its entries.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Writers wait while the index is built. With this memory that is few seconds for a million components.
  await sql`set local maintenance_work_mem = '256MB'`.execute(db);
  await sql`create index components_tags on components using gin (tags jsonb_path_ops)
    with (gin_pending_list_limit = 256)`.execute(db);
}
