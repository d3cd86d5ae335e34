/** The tables of lane audit, as Kysely sees them. */
import type { GeneratedAlways } from 'kysely';

/** Triggers write it; see migration 0015. */
export interface AuditTable {
  id: GeneratedAlways<number>;
  at: Date;
  actor: string | null;
  action: string;
  kind: string;
  name: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  request_id: string | null;
  via: string | null;
  /** Why, in the words of who asked. */
  reason: string | null;
}

export interface AuditTables {
  audit: AuditTable;
}
