import { type Kysely, sql } from 'kysely';

/**
 * An id of the installation, by which a directory of images is known as its own, and images that were deleted on purpose whose files are still to
 * be removed: what else no record names is kept for a while.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table installation (
      single boolean primary key default true check (single),
      id uuid not null,
      made_at timestamptz not null default now()
    )`,
    'insert into installation (id) values (gen_random_uuid())',
    `create table image_removals (
      id uuid primary key,
      store_id uuid not null,
      deleted_at timestamptz not null
    )`,
    'create index image_removals_store on image_removals (store_id)',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
