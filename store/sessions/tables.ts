/** The tables of lane sessions, with their outbox, Jobs and images, as Kysely sees them. */
import type { ColumnType, Generated } from 'kysely';
import type { RunnerProfile } from '../../domain/sessions/cluster/cluster-job.ts';
import type { SessionImageState } from '../../domain/sessions/images/image-progress.ts';
import type {
  JobOrder,
  JobStep,
  PreparedInventoryFiles,
  StepReport,
  TeardownState,
} from '../../domain/sessions/job-schema.ts';
import type { SessionPhase } from '../../domain/sessions/progress.ts';
import type { SessionMuster, SessionStatus, Snapshot, Succeeded, Target } from '../../domain/sessions/schema.ts';
import type { SessionReason } from '../../domain/sessions/session-reason.ts';
import type { Json, OptionalTime, Time } from '../connection/column-types.ts';

/** How far the engine is with a session, apart from the CFS status that others may patch. */
export type SessionStage = 'queued' | 'admitted' | 'ended';

export interface SessionsTable {
  id: string;
  name: string;
  configuration_name: string;
  configuration_limit: string;
  ansible_config: string;
  ansible_limit: string | null;
  /** Whether the limit is hosts that Muster names; else it is a pattern of Ansible. */
  limit_of_hosts: Generated<boolean>;
  ansible_verbosity: number;
  ansible_passthrough: string | null;
  target: Json<Target>;
  tags: Json<Record<string, string>>;
  debug_on_failure: boolean;
  status: SessionStatus;
  succeeded: Succeeded;
  job: string | null;
  ims_job: string | null;
  /** Every job at the image service that was made for it. */
  ims_jobs: ColumnType<string[], string[] | undefined, string[]>;
  artifacts: Json<Record<string, unknown>[]>;
  start_time: Time;
  completion_time: OptionalTime;
  message: string;
  /** Why it is where it is. Words of another release are possible. */
  reason: SessionReason | null;
  stage: SessionStage;
  /** What the engine does now. */
  phase: SessionPhase;
  layer: number | null;
  attempt: number;
  /** First come, first served. */
  queue: Generated<number>;
  admitted_at: OptionalTime;
  cancel_requested_at: OptionalTime;
  cancel_reason: string | null;
  /** Who asked for the end of the work. */
  cancel_actor: string | null;
  /** Hosts of a limit that is a plain list which the inventory does not have; null while nobody knows. */
  absent_hosts: ColumnType<string[] | null, string[] | null | undefined, string[]>;
  snapshot: Json<Snapshot>;
  /** What of it is Muster's own; null when nothing is set. */
  muster: ColumnType<SessionMuster | null, string | null, never>;
  retry_of: string | null;
  /** The trace in which it was asked for (W3C's `traceparent`), or null. */
  trace: string | null;
  /** Who made it. */
  actor: string | null;
  /** Who changed it last: a patch, a command, a delete; not the engine. */
  updated_by: string | null;
  created_at: Time;
  updated_at: Time;
  deleted_at: OptionalTime;
  /** Set when run directories, events and logs of a deleted session are gone. */
  purged_at: OptionalTime;
}

export type OutboxKind = 'start' | 'cancel';

export interface OutboxTable {
  id: Generated<number>;
  kind: OutboxKind;
  session_id: string;
  created_at: Time;
  next_try_at: Time;
  attempts: Generated<number>;
  last_error: string | null;
}

export interface SessionImagesTable {
  session_id: string;
  image_id: string;
  /** Place among the images of the session, 0 first. */
  place: number;
  result_name: string;
  /** The session's key at the image service. */
  public_key_id: string | null;
  /** Its job at the image service; null until the answer to its making is known. */
  job_id: string | null;
  /** Whether a job was asked for: it may be there although nobody has its id. */
  posted: Generated<boolean>;
  /**
   * When the session's key, and later its job, was asked for last; null once nothing can appear of which nobody has the id, and where a former
   * release asked.
   */
  posted_at: OptionalTime;
  host: string | null;
  port: number | null;
  state: SessionImageState;
  /** The image that came of it. */
  result_id: string | null;
  message: string;
  created_at: Time;
  /** When its job was asked for first. */
  started_at: OptionalTime;
  /** When its marker was to be set first. */
  finishing_at: OptionalTime;
  updated_at: Time;
  /** When its job was last seen to wait for its turn; null: never. */
  queued_at: OptionalTime;
  /** When nothing of it was left to end at the image service. */
  released_at: OptionalTime;
}

type OptionalJson<T> = ColumnType<T | null, string | null | undefined, string | null>;

export interface SessionJobsTable {
  session_id: string;
  /** Name of the Job. */
  name: string;
  profile: RunnerProfile;
  inventory: Json<PreparedInventoryFiles>;
  leases: boolean;
  order_number: Generated<number>;
  order_body: OptionalJson<JobOrder>;
  /** What each container last said of its step. */
  steps: ColumnType<Partial<Record<JobStep, StepReport>>, string | undefined, string>;
  /** Since when it waits for what keeps its pod from running. */
  waiting_since: OptionalTime;
  /** Since when it waits for what can never be. */
  impossible_since: OptionalTime;
  teardown: OptionalJson<TeardownState>;
  exit_codes: OptionalJson<Record<string, number | null>>;
  /** As `reason` of a session. */
  end_code: SessionReason | null;
  end_message: string | null;
  unverified: string | null;
  ended_at: OptionalTime;
  released_at: OptionalTime;
  created_at: Time;
}

export interface JobTokensTable {
  /** SHA-256 of the token. */
  hash: Buffer;
  session_id: string;
  issued_at: Time;
}

export interface SessionTables {
  sessions: SessionsTable;
  outbox: OutboxTable;
  session_jobs: SessionJobsTable;
  session_images: SessionImagesTable;
  job_tokens: JobTokensTable;
}
