/** The tables of lane operator, as Kysely sees them. */
import type { ColumnType, Generated } from 'kysely';
import type { Cause, NotedCause } from '../../domain/operator/cause.ts';
import type { Loop } from '../../domain/operator/loop.ts';
import type { OwnAnnotations } from '../../domain/operator/own-annotations.ts';
import type { OwnerMark } from '../../domain/operator/owner-mark.ts';
import type { OwnerText } from '../../domain/operator/owner-text.ts';
import type { AdmittedRun } from '../../domain/operator/proxy-ports.ts';
import type { ReconcileBegin, RunResult } from '../../domain/operator/reconcile.ts';
import type { DrainMode, Phase, ReconcileOutcome, WatchState } from '../../domain/operator/resource-words.ts';
import type { Json, OptionalTime, Time } from '../connection/column-types.ts';

type OptionalJson<T extends object> = ColumnType<T | null, string | null | undefined, string | null>;
type Optional<T> = ColumnType<T | null, T | null | undefined, T | null>;

export interface OperatorsTable {
  name: string;
  home: string;
  version: string;
  db_role: Generated<string>;
  /** Machine of the process that watches. */
  watcher: Optional<string>;
  watch_lease_until: OptionalTime;
  /** Since when nothing of it begins, because everything is stopped. */
  stopped_at: OptionalTime;
  registered_at: Time;
}

export interface OperatorProcessesTable {
  operator: string;
  machine: string;
  queue: string;
  slots: number;
  version: string;
  seen_at: Time;
  /** Why Temporal did not answer the last time. */
  engine_reason: Optional<string>;
  /** Whether its runs go on without it; those of a pod do not. */
  outlived: Generated<boolean>;
  /** When it ended in order, where its runs ended with it. */
  left_at: OptionalTime;
}

export interface OperatorWatchesTable {
  operator: string;
  api_group: string;
  version: string;
  kind: string;
  entry_hash: string;
  /** Reconciles of this kind at once, all processes together. */
  slots: number;
  state: WatchState;
  reason: Optional<string>;
  updated_at: Time;
  /** Name of the finalizer of its resources. */
  finalizer: Optional<string>;
}

export interface OperatorResourcesTable {
  id: Generated<string>;
  operator: string;
  api_group: string;
  version: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  generation: number;
  /** Tells one state of the object from another where its generation does not. */
  seen_mark: string;
  deleting: boolean;
  done_generation: Optional<number>;
  done_mark: Optional<string>;
  done_hash: Optional<string>;
  dirty: Generated<number>;
  due_at: OptionalTime;
  due_class: Optional<number>;
  due_reason: Optional<string>;
  cause: OptionalJson<Cause>;
  failures: Generated<number>;
  interruptions: Generated<number>;
  last_outcome: Optional<ReconcileOutcome>;
  phase: Phase;
  reason: Optional<string>;
  reconcile_id: Optional<string>;
  created_at: Time;
  updated_at: Time;
  gone_at: OptionalTime;
  paused_at: OptionalTime;
  paused_until: OptionalTime;
  paused_by: Optional<string>;
  paused_told_at: OptionalTime;
  drain: Optional<DrainMode>;
  dependent_loop: OptionalJson<Loop>;
  /** Before that time no dependent makes it run. */
  dependents_from: OptionalTime;
  /** What Muster's own annotations of the object say. */
  own_annotations: OptionalJson<OwnAnnotations>;
  /** The newest causes, the newest first. */
  causes: OptionalJson<NotedCause[]>;
}

export interface OperatorReconcilesTable {
  id: string;
  resource_id: string;
  operator: string;
  machine: string;
  cause: Json<Cause>;
  started_at: Time;
  /** When Temporal had its workflow. */
  told_at: OptionalTime;
  ended_at: OptionalTime;
  begin: OptionalJson<ReconcileBegin>;
  dirty_read: Optional<number>;
  generation: Optional<number>;
  entry_hash: Optional<string>;
  run_id: Optional<string>;
  run_result: OptionalJson<RunResult>;
  outcome: Optional<ReconcileOutcome>;
  messages: OptionalJson<string[]>;
  requeue_after_seconds: Optional<number>;
  requeue_reason: Optional<string>;
  cancel_requested_at: OptionalTime;
  cancelled_by: Optional<string>;
}

export interface OperatorProxyPasswordsTable {
  run_id: string;
  operator: string;
  machine: string;
  /** SHA-256 in hexadecimal digits. */
  password_hash: string;
  owner: Json<OwnerText>;
  entry: Json<AdmittedRun['entry']>;
  made_at: Time;
}

export interface OperatorDependentsTable {
  operator: string;
  owner_group: string;
  owner_version: string;
  owner_kind: string;
  api_group: string;
  version: string;
  kind: string;
  resource: string;
  namespaced: boolean;
  mark: OwnerMark;
  /** Why it cannot be watched now. */
  reason: Optional<string>;
  noted_at: Time;
}

export interface OperatorFailuresTable {
  reconcile_id: string;
  operator: string;
  failed_at: Time;
}

export interface OperatorTables {
  operators: OperatorsTable;
  operator_processes: OperatorProcessesTable;
  operator_watches: OperatorWatchesTable;
  operator_resources: OperatorResourcesTable;
  operator_reconciles: OperatorReconcilesTable;
  operator_proxy_passwords: OperatorProxyPasswordsTable;
  operator_dependents: OperatorDependentsTable;
  operator_failures: OperatorFailuresTable;
}
