import { type Kysely, sql } from 'kysely';

/** Which boot a component last reported, and when that was; how the last passes of the hardware sync went. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    'alter table components add column boot text, add column booted_at timestamptz',
    `create table hardware_syncs (
      single boolean primary key default true check (single),
      last_pass_at timestamptz not null,
      last_success_at timestamptz,
      interval_seconds bigint not null,
      reason text,
      found integer not null default 0,
      created bigint not null default 0
    )`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
