/** The tables of lane components, with their leases and drift, as Kysely sees them. */
import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { DriftStatus } from '../../domain/components/drift-schema.ts';
import type { StateLayer } from '../../domain/components/schema.ts';
import type { TaskChange } from '../../domain/runs/schema.ts';
import type { Json, OptionalTime, Time } from '../connection/column-types.ts';

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

/** Components that were chosen, for the action that follows. */
export interface ComponentSelectionsTable {
  id: string;
  /** In the order of their ids; some may be gone meanwhile. */
  ids: string[];
  expires_at: Time;
}

export interface ComponentTables {
  hardware_syncs: HardwareSyncsTable;
  components: ComponentsTable;
  component_leases: ComponentLeasesTable;
  lease_requests: LeaseRequestsTable;
  drift: DriftTable;
  component_selections: ComponentSelectionsTable;
}
