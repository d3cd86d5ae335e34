import { type Kysely, sql } from 'kysely';

/** What plans wait for, where attempts have run, and which of their runs nobody has seen to be gone. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    // `waits_for`: why a plan cannot go on by itself, `lease` or `machine`; `waits_told`: reasons of which webhooks were told.
    `alter table propagation_plans add column waits_for text, add column waits_since timestamptz, add column waits_told text[]`,
    'alter table propagation_attempts add column target text collate "C"',
    `create index propagation_attempts_target on propagation_attempts (target, ended_at desc) where state = 'ended'`,
    `create index propagation_attempts_unseen on propagation_attempts (machine, ended_at) where state = 'ended' and not verified`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
