/** The tables of lane batches, with rollouts, as Kysely sees them. */

import type { Generated } from 'kysely';
import type { BatchState } from '../../domain/batches/batch-schema.ts';
import type { SessionVerdict } from '../../domain/batches/judge-session.ts';
import type { RolloutStage, RolloutState } from '../../domain/batches/rollout.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { OptionalTime, Time } from '../connection/column-types.ts';

/** `open`: not yet sent; `sent`: its session goes on. */
export interface BatchesTable {
  id: string;
  /** `<configuration>:<layer indices>:<status of the last report or nothing>`. */
  key: string;
  configuration: string;
  /** Indices of the pending layers, comma between. */
  layers: string;
  state: Generated<BatchState>;
  /** When its window began. */
  opened_at: Time;
  /** How often a session was asked for; part of the session's name. */
  tries: Generated<number>;
  /** Why the last try was refused. */
  refusal: string | null;
  sent_at: OptionalTime;
  /** Last instant at which its session was seen waiting to be admitted. */
  waited_until: OptionalTime;
  session_id: string | null;
  session_name: string | null;
  /** Digest of commit and playbook of all layers that the configuration had when it was sent. */
  desired: string | null;
  ended_at: OptionalTime;
  result: 'success' | 'failure' | null;
  /** Why it ended so. */
  reason: string | null;
  /** Whether the back-off knows of its end. */
  counted: Generated<boolean>;
  /** What its session was made from (see batch-holds.ts); null of a batch that an older release sent. */
  basis: string | null;
  /** What its session meant at the end, and the code of a fault of the controller; null where an older release ended it. */
  verdict: SessionVerdict | null;
  fault: ErrorCode | null;
}

/** Keys that a fault of the controller holds. */
export interface BatchHoldsTable {
  key: string;
  configuration: string;
  /** Seconds from `start` on. */
  length: number;
  start: Time;
  /** The batch that alone was sent when that had run out. */
  probe: string | null;
  basis: string;
  /** Words of another release are possible: it is shown and compared, never looked up. */
  code: ErrorCode;
  reason: string;
  session: string;
  since: Time;
}

/** Components of batches that have not ended. */
export interface BatchMembersTable {
  component_id: string;
  batch_id: string;
  joined_at: Time;
}

export interface BatcherStateTable {
  /** Always true: there is one record. */
  single: Generated<boolean>;
  /** How the last 20 batches ended, oldest first; 20 successes at first. */
  results: Generated<boolean[]>;
  /** Seconds; 0 without back-off. */
  backoff_length: Generated<number>;
  backoff_start: OptionalTime;
  /** The batch that alone was sent when the back-off had run out. */
  probe: string | null;
  paused: Generated<boolean>;
  paused_by: string | null;
  paused_at: OptionalTime;
  last_pass_at: OptionalTime;
  last_pass_ms: number | null;
  next_pass_at: OptionalTime;
  /** Counted up when somebody sets a secret. */
  secrets_revision: Generated<number>;
}

/** The back-off of single keys. */
export interface BatchKeysTable {
  key: string;
  /** In a row. */
  failures: Generated<number>;
  /** Seconds; 0 without back-off. */
  backoff_length: Generated<number>;
  backoff_start: OptionalTime;
  probe: string | null;
  /** The desired layers to which all this applies. */
  desired: Generated<string>;
  paused: Generated<boolean>;
  paused_by: string | null;
  last_seen_at: Time;
}

export interface RolloutsTable {
  id: Generated<number>;
  configuration: string;
  /** Digest of the desired layers. */
  version: string;
  state: RolloutState;
  /** Which stage it is in, also while it is stopped or done. */
  stage: RolloutStage;
  is_current: Generated<boolean>;
  reason: string | null;
  /** Of the last look: enabled components that desire it, those of them that are pending or failed, and those in sessions. */
  components: Generated<number>;
  pending: Generated<number>;
  failed: Generated<number>;
  in_sessions: Generated<number>;
  /** Components that it has configured, and those whose last session of it failed, unless forgiven. */
  done: Generated<number>;
  tries_failed: Generated<number>;
  created_at: Time;
  updated_at: Time;
  ended_at: OptionalTime;
  stopped_at: OptionalTime;
  stopped_by: string | null;
  resumed_at: OptionalTime;
  resumed_by: string | null;
}

export interface RolloutMembersTable {
  rollout_id: number;
  component_id: string;
  batch_id: string;
  /** Null while it is in a session. */
  outcome: 'done' | 'failed' | null;
  forgiven: Generated<boolean>;
  /** Whether it was sent while the rollout was at its canaries. */
  canary: Generated<boolean>;
}

export interface BatchTables {
  rollouts: RolloutsTable;
  rollout_members: RolloutMembersTable;
  batches: BatchesTable;
  batch_members: BatchMembersTable;
  batcher_state: BatcherStateTable;
  batch_keys: BatchKeysTable;
  batch_holds: BatchHoldsTable;
}
