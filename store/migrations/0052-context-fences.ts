import { type Kysely, sql } from 'kysely';

/**
 * Whether new phases of AppContexts may begin, and which have begun; how long an apply that was sent may still arrive at its cluster,
 * and which namespace it went to.
 * That everything is stopped has an audit record of its own.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create table deployment_pause (
      single boolean primary key default true check (single),
      paused_at timestamptz
    )`,
    'insert into deployment_pause default values',
    'alter table deployment_contexts add column phase_began_at timestamptz',
    'alter table context_resources add column call_until timestamptz, add column stray_until timestamptz, add column sent_namespace text',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
