/** The tables as Kysely sees them; the SQL that makes them is in `migrations/`. Times are UTC, names sort by code point. */
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { Role } from '../domain/access/roles.ts';
import type { StateLayer } from '../domain/components/schema.ts';
import type { Configuration, Options, Source } from '../domain/configurations/schema.ts';
import type { TaskChange } from '../domain/runs/schema.ts';
import type { SessionMuster, SessionStatus, Snapshot, Succeeded, Target } from '../domain/sessions/schema.ts';
import type {
  BatcherStateTable,
  BatchesTable,
  BatchHoldsTable,
  BatchKeysTable,
  BatchMembersTable,
  DriftChecksTable,
  DriftTable,
  NotificationsTable,
  RolloutMembersTable,
  RolloutsTable,
  ScheduleRunsTable,
  SchedulesTable,
  WebhooksTable,
} from './automation-tables.ts';
import type { Json, OptionalTime, Time } from './connection/column-types.ts';
import type {
  ImageJobsTable,
  ImagePortsTable,
  ImagePublicKeysTable,
  ImageRemovalsTable,
  ImagesTable,
  ImageWorkersTable,
  InstallationTable,
} from './images/tables.ts';
import type { JobTokensTable, SessionJobsTable } from './job-tables.ts';
import type { SessionImagesTable } from './session-image-tables.ts';

export type * from './automation-tables.ts';
export type * from './images/tables.ts';

export interface OptionsTable {
  /** Always true: there is one record. */
  single: Generated<boolean>;
  /** Only what was ever set; the defaults of the code fill the rest at read. */
  record: Json<Partial<Options>>;
  updated_at: Time;
  actor: string | null;
}

export interface ConfigurationsTable {
  name: string;
  record: Json<Configuration>;
  /** Changes with each write and never comes again; compare-and-set after a branch resolution outside the transaction. */
  revision: Generated<number>;
  /** Sources that layers and additional inventory name; computed by the database. */
  source_names: ColumnType<string[], never, never>;
  updated_at: Time;
  actor: string | null;
}

export interface SourcesTable {
  name: string;
  record: Json<Source>;
  updated_at: Time;
  actor: string | null;
}

export interface ComponentsTable {
  id: string;
  desired_config: string;
  error_count: number;
  retry_policy: number | null;
  enabled: boolean;
  tags: Json<Record<string, string>>;
  state: Json<StateLayer[]>;
  updated_at: Time;
  actor: string | null;
  /** Which boot it last told of, and when: what sessions of before report is incomplete. Null: it never told. */
  boot: ColumnType<string | null, string | null | undefined, string | null>;
  booted_at: OptionalTime;
  /** What its status depends on beside the error count; made by Postgres. */
  standing: GeneratedAlways<string>;
  /** Status of the last entry of its state; made by Postgres. */
  last_status: GeneratedAlways<string | null>;
}

export interface ComponentLeasesTable {
  component_id: string;
  session_id: string;
  taken_at: Time;
}

export interface LeaseRequestsTable {
  session_id: string;
  component_id: string;
  /** It had the lease and gave way to an older session. */
  yielded: boolean;
}

export interface SecretsTable {
  name: string;
  key: string;
  /** AES-256-GCM with the key file of the data directory. */
  ciphertext: Buffer;
  updated_at: Time;
  actor: string | null;
}

/** A change of a source's secret that is under way, or was broken off. */
export interface SecretChangesTable {
  id: string;
  secret_name: string;
  begun_at: Generated<Date>;
  /** No source will name the secret: it is being removed. */
  settling: Generated<boolean>;
}

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
  /** Code of the catalogue that says why it is where it is, or null. */
  reason: string | null;
  stage: SessionStage;
  /** What the engine does now: queued, clone, inventory, lease, layer, hold, teardown, done. */
  phase: string;
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

export type RunState = 'created' | 'started' | 'ended' | 'lost';

export interface RunsTable {
  id: string;
  session_id: string | null;
  /** Whose events and output it adds to: its session, or itself. */
  stream_id: string;
  layer: number;
  attempt: number;
  /** Id of the data directory (disk) that has the run's files. */
  host: string;
  state: RunState;
  exit_code: number | null;
  created_at: Time;
  started_at: OptionalTime;
  ended_at: OptionalTime;
  /** Lines and bytes of events.jsonl and bytes of output.log that are stored. */
  event_lines: Generated<number>;
  event_bytes: Generated<number>;
  output_bytes: Generated<number>;
  recorded_at: OptionalTime;
  /** How late its newest event was when it was stored. */
  event_lag_ms: Generated<number>;
  /** Why Ansible ended it, in Ansible's own words, in one line; null where it did not say. */
  error: ColumnType<string | null, string | null | undefined, string | null>;
}

export interface RunTokensTable {
  run_id: string;
  /** SHA-256 of the token. */
  hash: Buffer;
  issued_at: Time;
}

export interface StreamsTable {
  id: string;
  next_event: Generated<number>;
  next_chunk: Generated<number>;
}

export interface EventsTable {
  stream_id: string;
  seq: number;
  run_id: string | null;
  /** Line number in the run's events.jsonl, from 1; null for events of the session itself. */
  line: number | null;
  layer: number | null;
  attempt: number | null;
  time: Time;
  type: string;
  host: string | null;
  data: Json<Record<string, unknown>>;
}

export interface OutputTable {
  stream_id: string;
  seq: number;
  run_id: string;
  layer: number;
  attempt: number;
  /** Byte offset in the run's output.log. */
  start: number;
  text: string;
}

export interface HostResultsTable {
  run_id: string;
  session_id: string | null;
  layer: number;
  attempt: number;
  host: string;
  status: 'applied' | 'failed' | 'incomplete';
  ok: number;
  changed: number;
  failures: number;
  unreachable: number;
  skipped: number;
  rescued: number;
  ignored: number;
  /** Whether a component of that id took the result. */
  recorded: boolean;
  /** What its component took the layer for; null where there is none, and for a check. */
  taken_as: string | null;
  stored_at: Generated<Date>;
  /** Of a check: the tasks that would change the host; null when there are none, or when the component has them. */
  changes: ColumnType<TaskChange[] | null, string | null | undefined, null>;
  changes_left_out: Generated<number>;
  /** Of a check: how many of `changed` may come only of tasks that check mode skips. */
  uncertain: Generated<number>;
  /** Made from the events of a run that ended without statistics. */
  from_events: Generated<boolean>;
  /** Why the host failed, in one line; null where no task of it failed. */
  message: ColumnType<string | null, string | null | undefined, string | null>;
}

/** Hosts of a play that no task of a run reached. */
export interface UnreachedHostsTable {
  run_id: string;
  session_id: string | null;
  layer: number;
  attempt: number;
  host: string;
}

export interface TokensTable {
  id: string;
  /** SHA-256 of the token, which itself is stored nowhere. */
  hash: Buffer;
  name: string;
  role: Role;
  /** The component that a token of role node speaks for. */
  component: string | null;
  created_at: Time;
  /** Who made it. */
  actor: string | null;
  expires_at: OptionalTime;
  /** Written now and then, not with every request. */
  last_used_at: OptionalTime;
  revoked_at: OptionalTime;
}

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

export interface TalliesTable {
  name: string;
  label: string;
  /** Place among the bounds of a duration; 0 for a plain count. */
  bucket: number;
  count: number;
  /** Seconds; 0 for a plain count. */
  sum: number;
}

/** How the passes of the hardware sync went; no row where there is none. */
export interface HardwareSyncsTable {
  /** Always true: there is one record. */
  single: Generated<boolean>;
  last_pass_at: Time;
  last_success_at: OptionalTime;
  /** Seconds to the next pass, as the option was. */
  interval_seconds: number;
  /** Why the last pass failed, or null. */
  reason: string | null;
  /** Nodes that the hardware manager named last. */
  found: number;
  /** Components made since the beginning. */
  created: number;
}

/** Public keys of the authorities that sign the certificates of sessions. */
export interface TrustAuthoritiesTable {
  public_key: string;
  since: Time;
  /** When another one took its place; null for the one that signs. */
  replaced_at: OptionalTime;
}

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
}

export interface Database {
  images: ImagesTable;
  image_public_keys: ImagePublicKeysTable;
  image_jobs: ImageJobsTable;
  image_ports: ImagePortsTable;
  image_workers: ImageWorkersTable;
  image_removals: ImageRemovalsTable;
  installation: InstallationTable;
  rollouts: RolloutsTable;
  rollout_members: RolloutMembersTable;
  webhooks: WebhooksTable;
  notifications: NotificationsTable;
  audit: AuditTable;
  schedules: SchedulesTable;
  schedule_runs: ScheduleRunsTable;
  hardware_syncs: HardwareSyncsTable;
  tallies: TalliesTable;
  batches: BatchesTable;
  batch_members: BatchMembersTable;
  batcher_state: BatcherStateTable;
  batch_keys: BatchKeysTable;
  batch_holds: BatchHoldsTable;
  idempotent_requests: IdempotentRequestsTable;
  tokens: TokensTable;
  options: OptionsTable;
  configurations: ConfigurationsTable;
  sources: SourcesTable;
  components: ComponentsTable;
  component_leases: ComponentLeasesTable;
  lease_requests: LeaseRequestsTable;
  secrets: SecretsTable;
  secret_changes: SecretChangesTable;
  sessions: SessionsTable;
  outbox: OutboxTable;
  trust_authorities: TrustAuthoritiesTable;
  runs: RunsTable;
  run_tokens: RunTokensTable;
  session_jobs: SessionJobsTable;
  session_images: SessionImagesTable;
  job_tokens: JobTokensTable;
  streams: StreamsTable;
  events: EventsTable;
  output: OutputTable;
  host_results: HostResultsTable;
  unreached_hosts: UnreachedHostsTable;
  drift: DriftTable;
  drift_checks: DriftChecksTable;
}
