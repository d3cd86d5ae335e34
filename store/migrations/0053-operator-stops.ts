import { type Kysely, sql } from 'kysely';

/** Operators that rest while everything is stopped, and processes whose runs end with them. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    // `stopped_at`: since when nothing of it begins; null: it works.
    'alter table operators add column stopped_at timestamptz',
    // `outlived`: whether its runs go on without it; those of a pod do not. `left_at`: when such a process ended in order.
    'alter table operator_processes add column outlived boolean not null default true, add column left_at timestamptz',
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
