import { type Kysely, sql } from 'kysely';
import { AUDITED } from './0015-audit.ts';
import { AUDITED_WEBHOOKS } from './0016-webhooks.ts';
import { AUDITED_IMAGES } from './0021-images.ts';
import { boundedAuditFunctions } from './audited-table.ts';

/** Longest value of a member, bytes as JSON; how much of a longer one is kept, in characters. */
const MOST = 64 * 1024;
const KEPT = 1_024;

/**
 * Large values in audit records are cut, and a write that changes nothing leaves no record. The functions that triggers call get
 * another body and nothing else: a release that only calls them goes on.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const statements = [
    `create function audit_cut(members jsonb) returns jsonb language sql immutable as $$
      select case when octet_length(members::text) <= ${MOST} then members else (
        select jsonb_object_agg(m.key, case when octet_length(m.value::text) <= ${MOST} then m.value
          else jsonb_build_object('cut', left(m.value::text, ${KEPT}), 'length', octet_length(m.value::text),
            'sha256', encode(sha256(convert_to(m.value::text, 'UTF8')), 'hex')) end)
        from jsonb_each(members) as m) end $$`,
    ...[...AUDITED, AUDITED_WEBHOOKS, ...AUDITED_IMAGES].flatMap(boundedAuditFunctions),
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
