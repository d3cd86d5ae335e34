/** Resources that run because a dependent of theirs changed. */
import { sql } from 'kysely';
import type { Cause } from '../../domain/operator/cause.ts';
import type { ResourceName } from '../../domain/operator/dependent-change.ts';
import type { Gvk } from '../../domain/operator/names.ts';
import type { Db } from '../connection/database.ts';
import { causesWithOne } from './causes.ts';

/**
 * Makes resources of a kind due by their names, those that are slowed down when they may run for a dependent; one that runs does so again at its
 * end. A more urgent cause that waits by then stays, and so does what is due before it.
 * Returns whether there is any of these resources; those whose annotation says that their dependents do not count are left out.
 */
export async function writeDependentCause(
  db: Db,
  operator: string,
  { group, version, kind }: Gvk,
  names: readonly ResourceName[],
  { cause, urgency }: { cause: Cause; urgency: number },
  now: Date,
): Promise<boolean> {
  const at = sql`greatest(${now}::timestamptz, r.dependents_from)`;
  const isSlowed = sql`(${at} > ${now}::timestamptz)`;
  const stays = sql`(case when ${isSlowed} then r.due_at < ${at} else r.due_at <= ${now}::timestamptz and r.due_class < ${urgency} end)`;
  const { rows } = await sql<{ id: string }>`
    update operator_resources r set dirty = r.dirty + 1, updated_at = ${now}, causes = ${causesWithOne(cause, now)},
      cause = case when ${stays} then r.cause else ${JSON.stringify(cause)}::jsonb end,
      due_reason = case when ${stays} then r.due_reason else ${cause.type} end,
      due_class = case when ${stays} then r.due_class else ${urgency} end,
      due_at = case when ${stays} then r.due_at else least(r.due_at, ${at}) end,
      phase = case when r.reconcile_id is not null then r.phase when not ${isSlowed} then 'queued' when ${stays} then r.phase else 'waiting' end,
      reason = case when r.reconcile_id is not null then r.reason when not ${isSlowed} then ${cause.type}
        when ${stays} then r.reason else r.dependent_loop->>'reason' end
    from jsonb_to_recordset(${JSON.stringify(names)}::jsonb) as n(namespace text, name text)
    where r.operator = ${operator} and r.api_group = ${group} and r.version = ${version} and r.kind = ${kind}
      and r.namespace = n.namespace and r.name = n.name and r.gone_at is null
      and not coalesce((r.own_annotations->>'ignoresDependents')::boolean, false)
    returning r.id
  `.execute(db);
  return rows.length > 0;
}
