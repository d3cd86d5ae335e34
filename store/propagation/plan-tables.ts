/** The tables of plans, as Kysely sees them. */
import type { ColumnType, Generated, Insertable, Selectable } from 'kysely';
import type { ExplainedCycle } from '../../domain/propagation/build-plan.ts';
import type { ActionDefinition, Handler } from '../../domain/propagation/definition-schema.ts';
import type { DiffEntry } from '../../domain/propagation/diff.ts';
import type { Condition, Outcome } from '../../domain/propagation/event-schema.ts';
import type { EdgeType, NodeStatus, Origin, SuppressedEvent } from '../../domain/propagation/plan-schema.ts';
import type { NodeStep, PlanCommand, PlanState, PlanWait, PlanWish } from '../../domain/propagation/plan-states.ts';
import type { Summary } from '../../domain/propagation/report.ts';
import type { Settlement } from '../../domain/propagation/settlement.ts';
import type { ConnectionTuple } from '../../domain/propagation/stage.ts';
import type { Json, OptionalTime, Time } from '../connection/column-types.ts';

/** A list that is empty in a new row. */
type GrowingList<T> = ColumnType<T[], string | undefined, string>;

export interface PlansTable {
  id: string;
  place: Generated<number>;
  name: string;
  state: PlanState;
  /** Stands until the plan ends. */
  wish: PlanWish | null;
  /** The last thing that a user asked for. */
  command: PlanCommand | 'process';
  commands: Generated<number>;
  commanded_at: Time;
  /** Whether an advance has read the last command. */
  heard: Generated<boolean>;
  run_number: Generated<number>;
  items_limit: number;
  type_limits: Json<Record<string, number>>;
  /** Number of nodes by status. */
  counts: Json<Summary>;
  cycles: Json<ExplainedCycle[]>;
  suppressed: Json<SuppressedEvent[]>;
  recovered: GrowingList<string>;
  unsettled: GrowingList<string>;
  /** Receivers that a committed removal has staged. */
  follow_up: GrowingList<string>;
  /** Why a plan that is running cannot go on by itself; null while it can. */
  waits_for: ColumnType<PlanWait | null, PlanWait | null | undefined, PlanWait | null>;
  waits_since: OptionalTime;
  /** Reasons of which webhooks were told. */
  waits_told: ColumnType<PlanWait[] | null, PlanWait[] | null | undefined, PlanWait[] | null>;
  created_at: Time;
  started_at: OptionalTime;
  ended_at: OptionalTime;
  actor: string | null;
}
export type PlanRow = Selectable<PlansTable>;
/** A plan without what grows with its graph. */
export type DrivenPlan = Omit<PlanRow, 'cycles' | 'suppressed'>;

export interface FrozenTable {
  hash: string;
  value: Json<Record<string, unknown>>;
}

export interface PlanNodesTable {
  plan: string;
  /** Place in canonical order. */
  number: number;
  id: string;
  base: string;
  occurrence: 0 | 1;
  origin: Origin;
  resource: string;
  action: string;
  /** The action that is executed; null for a removal that the definition does not have. */
  executes: string | null;
  /** Nothing is executed. */
  is_idle: boolean;
  handler: Handler;
  /** Hash of the definition's content. */
  definition: string;
  base_path: string;
  target: string | null;
  /** The definition where it has a limit. */
  type: string | null;
  weight: number;
  rules: Json<NodeRules>;
  /** Hash of the frozen inputs. */
  inputs: string;
  has_item: boolean;
  /** Its item has a difference. */
  differs: boolean;
  /** `changed` is `created`: the first run of its resource. */
  creates: boolean;
  status: NodeStatus;
  outcome: Outcome | null;
  reason: string | null;
  message: string | null;
  code: string | null;
  step: NodeStep | null;
  ready_at: OptionalTime;
  /** Edges into it whose emitter has not ended. */
  open: number;
  attempts: Generated<number>;
  /** Attempts that an earlier budget has paid for. */
  attempts_before: Generated<number>;
  attempt: string | null;
  blocked_by: GrowingList<string>;
  triggered_by: GrowingList<{ node: string; outcome: Outcome }>;
  start_time: OptionalTime;
  end_time: OptionalTime;
}
export type PlanNodeRow = Selectable<PlanNodesTable>;
/** A node, an edge and an item before they are a plan's. */
export type NewPlanNode = Omit<Insertable<PlanNodesTable>, 'plan'>;
export type NewPlanEdge = Omit<Insertable<PlanEdgesTable>, 'plan'>;
export type NewPlanItem = Omit<Insertable<PlanItemsTable>, 'plan'>;

/** What the definition says of an action. */
export type NodeRules = Pick<
  ActionDefinition,
  'file' | 'timelimit' | 'timeout' | 'retry' | 'retry_on' | 'backoff' | 'outcomes'
>;

export interface PlanEdgesTable {
  plan: string;
  target: number;
  grp: number;
  source: number;
  type: EdgeType;
  on_outcome: Condition | null;
}

export interface PlanItemsTable {
  plan: string;
  base: string;
  uid: string;
  is_implied: boolean;
  resource: string;
  action: string;
  diff: Json<DiffEntry[]>;
  connections_diff: Json<DiffEntry[]>;
  base_path: string;
  tags: string[];
  /** Hash of what the resource has when it is committed. */
  inputs: string;
  connections: Json<ConnectionTuple[]>;
  settles: Settlement | null;
  committed_at: OptionalTime;
}
export type PlanItemRow = Selectable<PlanItemsTable>;

export interface AttemptsTable {
  id: string;
  plan: string;
  node: number;
  number: number;
  state: 'open' | 'ended';
  /** An advance has made of its end what it means. */
  taken: Generated<boolean>;
  end_wanted: Generated<boolean>;
  outcome: Outcome | null;
  code: string | null;
  message: string | null;
  /** Whether its run was seen to be gone. */
  verified: Generated<boolean>;
  machine: string | null;
  /** Where it runs, as its node says. */
  target: ColumnType<string | null, string | null | undefined, string | null>;
  away_since: OptionalTime;
  created_at: Time;
  started_at: OptionalTime;
  ended_at: OptionalTime;
}
export type AttemptRow = Selectable<AttemptsTable>;

export type LeaseKind = 'target' | 'resource';

export interface LeasesTable {
  kind: LeaseKind;
  key: string;
  attempt: string;
  plan: string;
  taken_at: Time;
}

export interface LeaseWaitsTable {
  kind: LeaseKind;
  key: string;
  plan: string;
  since: Time;
  /** When the plan has last looked. */
  seen_at: Time;
}

export interface PlanTables {
  propagation_plans: PlansTable;
  propagation_frozen: FrozenTable;
  propagation_plan_nodes: PlanNodesTable;
  propagation_plan_edges: PlanEdgesTable;
  propagation_plan_items: PlanItemsTable;
  propagation_attempts: AttemptsTable;
  propagation_leases: LeasesTable;
  propagation_lease_waits: LeaseWaitsTable;
}
