/** The tables of lane requests, as Kysely sees them. */
import type { Time } from '../connection/column-types.ts';

export interface IdempotentRequestsTable {
  scope: Buffer;
  fingerprint: Buffer;
  operation: string;
  holder: string;
  held_until: Time;
  created_at: Time;
  /** Status and headers, sealed; null while the request is worked on. */
  answer_head: Buffer | null;
  answer_body: Buffer | null;
}

export interface RequestTables {
  idempotent_requests: IdempotentRequestsTable;
}
