/** Tables of sessions that run as Jobs of a cluster, as Kysely sees them. */
import type { ColumnType, Generated } from 'kysely';
import type { RunnerProfile } from '../domain/sessions/cluster-job.ts';
import type {
  JobOrder,
  JobStep,
  PreparedInventoryFiles,
  StepReport,
  TeardownState,
} from '../domain/sessions/job-schema.ts';
import type { Json, OptionalTime, Time } from './connection/column-types.ts';

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
  end_code: string | null;
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
