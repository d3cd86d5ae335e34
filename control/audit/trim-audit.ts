import { deleteOldAuditRows } from '../../store/audit/audit.ts';
import type { Db } from '../../store/connection/database.ts';

export interface TrimAuditDependencies {
  db: Db;
  clock(): Date;
  /** What is kept of the audit records: so many days, and so many records at most. */
  auditKept: { days: number; rows: number };
}

const DAY_MS = 86_400_000;
/** Records removed in one transaction: a fraction of a second. */
const SLICE = 10_000;
/** How long one call goes on; the next takes the rest. */
const BUDGET_MS = 20_000;

/** Removes audit records that are too old or too many, in slices; answers how many. Repeating it is harmless. */
export async function trimAudit(
  { db, clock, auditKept: { days, rows } }: TrimAuditDependencies,
  slice = SLICE,
): Promise<number> {
  const until = performance.now() + BUDGET_MS;
  const limits = { before: new Date(clock().getTime() - days * DAY_MS), rows };
  for (let removed = 0; ; ) {
    const count = await deleteOldAuditRows(db, limits, slice);
    removed += count;
    if (count < slice || performance.now() > until) return removed;
  }
}
