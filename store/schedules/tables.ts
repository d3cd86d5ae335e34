/** The tables of lane schedules, with drift checks, as Kysely sees them. */
import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { KeptCheckAnswer } from '../../domain/schedules/drift-check-schema.ts';
import type {
  KeptRunResult,
  ScheduleAction,
  ScheduleBody,
  ScheduleRunState,
} from '../../domain/schedules/schedule-schema.ts';
import type { Json, OptionalTime, Time } from '../connection/column-types.ts';

export interface DriftChecksTable {
  run_id: string;
  /** Null only inside the transaction that makes the sessions. */
  answer: ColumnType<KeptCheckAnswer | null, null, string>;
  made_at: Time;
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

export interface ScheduleTables {
  schedules: SchedulesTable;
  schedule_runs: ScheduleRunsTable;
  drift_checks: DriftChecksTable;
}
