import type { Role } from '../../domain/access/roles.ts';
import type { AuditListQuery, AuditRecord } from '../../domain/audit/schema.ts';
import { type AuditPlace, type AuditRow, listAuditRows } from '../../store/audit/audit.ts';
import type { Db } from '../../store/connection/database.ts';

/** Kinds that only administrators may list. */
const FOR_ADMINISTRATORS = ['secret', 'token', 'webhook', 'cluster', 'kubeconfig'];

/**
 * A page of audit records, newest first, and the place after which the next begins; null when this is the last. Records of
 * tokens, secrets, webhooks and clusters are for administrators, as their lists are; a `role` of null is that of an API without access control.
 */
export async function listAudit(
  db: Db,
  query: AuditListQuery,
  role: Role | null,
): Promise<{ records: AuditRecord[]; after: string | null }> {
  const { since, until, limit, after_id } = query;
  const filter = {
    actor: query.actor || undefined,
    kind: query.kind || undefined,
    name: query.name || undefined,
    action: query.action || undefined,
    since: since === undefined ? undefined : new Date(since),
    until: until === undefined ? undefined : new Date(until),
    hidden: role === null || role === 'admin' ? [] : FOR_ADMINISTRATORS,
  };
  const page = await listAuditRows(db, filter, after_id === '' ? undefined : placeOf(after_id), limit);
  const records = page.rows.map(recordOf);
  return { records, after: page.more ? (records.at(-1)?.id ?? null) : null };
}

/** A row as it is shown. */
function recordOf({ id, at, ...row }: AuditRow): AuditRecord {
  const { actor, action, kind, name, before, after, request_id, via, reason } = row;
  return {
    id: `${at.getTime()}-${id}`,
    time: at.toISOString(),
    actor,
    action,
    kind,
    name,
    before,
    after,
    request_id,
    via,
    reason,
  };
}

function placeOf(id: string): AuditPlace {
  const [milliseconds = '', number = ''] = id.split('-');
  return { at: new Date(Number(milliseconds)), id: Number(number) };
}
