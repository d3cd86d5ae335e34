/** The tables of lane runs, as Kysely sees them. */
import type { ColumnType, Generated } from 'kysely';
import type { RunState } from '../../domain/runs/run-states.ts';
import type { HostCounts, HostStatus, TaskChange } from '../../domain/runs/schema.ts';
import type { Json, OptionalTime, Time } from '../connection/column-types.ts';

export interface RunsTable {
  id: string;
  session_id: string | null;
  /** Kind and id of an owner that is no session; null for a run of a session. */
  owner_kind: ColumnType<string | null, string | null | undefined, never>;
  owner_id: ColumnType<string | null, string | null | undefined, never>;
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
  /** When somebody asked for its end; null where nobody did, and once its machine has ended it. */
  end_requested_at: OptionalTime;
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
  /** When it arrived; null where it was there before this was noted. */
  at: ColumnType<Date | null, never, never>;
}

export interface HostResultsTable extends HostCounts {
  run_id: string;
  session_id: string | null;
  layer: number;
  attempt: number;
  host: string;
  status: HostStatus;
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

/** Machines with a worker that starts runs. */
export interface RunMachinesTable {
  /** Id of its data directory. */
  machine: string;
  /** Task queue of that worker. */
  queue: string;
  /** `sessions`, or the lane that has a worker of its own. */
  kind: string;
  seen_at: Time;
}

export interface RunTables {
  run_machines: RunMachinesTable;
  runs: RunsTable;
  run_tokens: RunTokensTable;
  streams: StreamsTable;
  events: EventsTable;
  output: OutputTable;
  host_results: HostResultsTable;
  unreached_hosts: UnreachedHostsTable;
}
