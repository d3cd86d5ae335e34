/** The tables of lane automation as Kysely sees them, and the findings of drift checks (see tables.ts). */
import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from 'kysely';
import type { KeptCheckAnswer } from '../domain/automation/drift-check-schema.ts';
import type { SessionVerdict } from '../domain/automation/judge-session.ts';
import type { RolloutStage, RolloutState } from '../domain/automation/rollout.ts';
import type {
  KeptRunResult,
  ScheduleAction,
  ScheduleBody,
  ScheduleRunState,
} from '../domain/automation/schedule-schema.ts';
import type { DeliveryState, WebhookEvent } from '../domain/automation/webhook-schema.ts';
import type { DriftStatus } from '../domain/components/drift-schema.ts';
import type { TaskChange } from '../domain/runs/schema.ts';
import type { Json, OptionalTime, Time } from './connection/column-types.ts';

export interface DriftTable {
  component_id: string;
  /** Stands for repository and playbook; computed by the database. */
  layer_id: GeneratedAlways<string>;
  clone_url: string;
  playbook: string;
  commit: string;
  configuration: string;
  /** Index in the configuration. */
  layer: number;
  status: DriftStatus;
  /** Tasks that would change something. */
  changed: number;
  changes: Json<TaskChange[]>;
  changes_left_out: number;
  /** Changes that may come only of tasks that check mode skips; `changed` has none of them. */
  uncertain: Generated<number>;
  session_id: string;
  session_name: string;
  checked_at: Time;
}

export interface DriftChecksTable {
  run_id: string;
  /** Null only inside the transaction that makes the sessions. */
  answer: ColumnType<KeptCheckAnswer | null, null, string>;
  made_at: Time;
}

/** `open`: not yet sent; `sent`: its session goes on. */
export type BatchState = 'open' | 'sent' | 'ended';

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
  fault: string | null;
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
  code: string;
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

export interface SchedulesTable {
  id: string;
  name: string;
  record: Json<ScheduleBody>;
  paused: boolean;
  pause_note: Generated<string>;
  paused_by: string | null;
  paused_at: OptionalTime;
  /** Changes with each write. */
  revision: Generated<number>;
  /** The revision that the engine was seen to have. */
  synced_revision: number | null;
  sync_error: string | null;
  created_at: Time;
  updated_at: Time;
  actor: string | null;
}

export interface ScheduleRunsTable {
  id: string;
  schedule_id: string;
  /** The time that it is for, whole seconds. */
  scheduled_at: Time;
  state: ScheduleRunState;
  by_hand: boolean;
  requested_by: string | null;
  created_at: Time;
  /** When the engine was told of one that was asked for by hand. */
  delivered_at: OptionalTime;
  workflow_id: string | null;
  /** The schedule's action when the run began. */
  action: JSONColumnType<ScheduleAction | null, string | null, string | null>;
  started_at: OptionalTime;
  ended_at: OptionalTime;
  result: JSONColumnType<KeptRunResult | null, string | null, string | null>;
  error_code: string | null;
  error: string | null;
}

export interface WebhooksTable {
  name: string;
  /** What is shown of the address; the whole one where an older release has written it. */
  url: string;
  /** The whole address, encrypted (see webhook-addresses.ts). */
  sealed_url: ColumnType<Buffer | null, Buffer | null | undefined, Buffer>;
  /** Counted up when somebody sets the address. */
  url_revision: Generated<number>;
  events: WebhookEvent[];
  enabled: boolean;
  allow_private_redirects: boolean;
  created_at: Time;
  updated_at: Time;
  actor: string | null;
}

export interface NotificationsTable {
  id: Generated<string>;
  webhook: string;
  event: string;
  data: Json<Record<string, unknown>>;
  created_at: ColumnType<Date, Date | undefined, never>;
  state: ColumnType<DeliveryState, DeliveryState | undefined, DeliveryState>;
  attempts: Generated<number>;
  next_try_at: ColumnType<Date, Date | undefined, Date>;
  delivered_at: OptionalTime;
  last_status: number | null;
  last_error: string | null;
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
