import { type Kysely, sql } from 'kysely';
import { AUDITED } from './0015-audit.ts';
import { AUDITED_IMAGES } from './0021-images.ts';
import { SEALED_WEBHOOKS } from './0037-sealed-webhooks.ts';
import { AUDITED_PROPAGATION } from './0040-propagation-model.ts';
import { AUDITED_PLANS } from './0041-propagation-plans.ts';
import { AUDITED_CLUSTERS } from './0045-member-clusters.ts';
import { reasonedAuditFunctions } from './audited-table.ts';
import { AUDITED_ATTEMPTS } from './plan-streams.ts';

/** Why a write was asked for. The functions that triggers call get another body and nothing else: a release that only calls them goes on. */
export async function up(db: Kysely<never>): Promise<void> {
  const tables = [
    ...[...AUDITED, SEALED_WEBHOOKS, ...AUDITED_IMAGES],
    ...[...AUDITED_PROPAGATION, ...AUDITED_PLANS, AUDITED_ATTEMPTS, ...AUDITED_CLUSTERS],
  ];
  const statements = ['alter table audit add column reason text', ...tables.flatMap(reasonedAuditFunctions)];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
