import { type Kysely, sql } from 'kysely';

/** Tokens of the API. Revoked ones stay, so that a file that still holds one is not taken for a new one. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table tokens (
      id uuid primary key,
      hash bytea not null unique,
      name text collate "C" not null,
      role text not null,
      component text collate "C",
      created_at timestamptz not null,
      actor text,
      expires_at timestamptz,
      last_used_at timestamptz,
      revoked_at timestamptz,
      check ((role = 'node') = (component is not null))
    )`,
    'create unique index tokens_name on tokens (name) where revoked_at is null',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
