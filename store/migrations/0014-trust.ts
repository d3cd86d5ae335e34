import { type Kysely, sql } from 'kysely';

/** Public keys of the authorities that sign the certificates of sessions; the private ones are secrets. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table trust_authorities (
      public_key text collate "C" primary key,
      since timestamptz not null,
      replaced_at timestamptz
    )`,
    'create unique index trust_authorities_current on trust_authorities ((true)) where replaced_at is null',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
