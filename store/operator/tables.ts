/** The tables of lane operator, as Kysely sees them. */
import type { ColumnType, Generated } from 'kysely';
import type { Cause } from '../../domain/operator/cause.ts';
import type { ReconcileBegin, RunResult } from '../../domain/operator/reconcile.ts';
import type { Phase, ReconcileOutcome, WatchState } from '../../domain/operator/resource-words.ts';
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
  registered_at: Time;
}

export interface OperatorProcessesTable {
  operator: string;
  machine: string;
  queue: string;
  slots: number;
  version: string;
  seen_at: Time;
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
}

export interface OperatorTables {
  operators: OperatorsTable;
  operator_processes: OperatorProcessesTable;
  operator_watches: OperatorWatchesTable;
  operator_resources: OperatorResourcesTable;
  operator_reconciles: OperatorReconcilesTable;
}
