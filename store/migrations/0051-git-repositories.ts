import { type Kysely, sql } from 'kysely';
import { AUDITED_PROPAGATION } from './0040-propagation-model.ts';
import { reasonedAuditFunctions } from './audited-table.ts';

/** A repository as it is audited from now on: what a user asks of it is recorded, what a sync does with it is none of it. */
const AUDITED_REPOSITORIES = AUDITED_PROPAGATION.filter(({ table }) => table === 'propagation_repositories').map(
  (audited) => ({
    ...audited,
    updated: (old: string, row: string) => `${row}.sync_wanted <> ${old}.sync_wanted`,
    action: () => `'sync'`,
  }),
);

/** Repositories of definitions that are read from git: which sync is wanted, which has ended, and how. */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    // `id`: of the record, so that a repository that is made again with the same name is another one.
    `alter table propagation_repositories
      add column id uuid default gen_random_uuid() not null,
      add column code text,
      add column sync_wanted integer default 0 not null,
      add column sync_done integer default 0 not null,
      add column synced_at timestamptz`,
    ...AUDITED_REPOSITORIES.flatMap(reasonedAuditFunctions),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
