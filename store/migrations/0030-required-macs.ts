import { type Kysely, sql } from 'kysely';

/**
 * Since when what goes through Temporal must have a MAC of this installation (null: what has none counts still), when a process that signs was
 * last there, and by what its key is known.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    'alter table installation add column mac_required_since timestamptz',
    'alter table installation add column mac_signer_seen_at timestamptz',
    'alter table installation add column mac_key_print text',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
