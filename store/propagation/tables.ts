/** The tables of lane propagation, as Kysely sees them. */
import type { ColumnType, Generated } from 'kysely';
import type {
  ActionDefinition,
  Definition,
  Handler,
  InputDefinition,
} from '../../domain/propagation/definition-schema.ts';
import type { DiffEntry } from '../../domain/propagation/diff.ts';
import type { CommittedState, ItemState, ResourceState } from '../../domain/propagation/item-state.ts';
import type { ConnectionTuple } from '../../domain/propagation/stage.ts';
import type { Json, OptionalTime, Time } from '../connection/column-types.ts';
import type { PlanTables } from './plan-tables.ts';

/** `uploaded`: its definitions were put one by one; `git`: they were read out of a repository. */
export type RepositoryKind = 'uploaded' | 'git';
export type RepositoryState = 'ready' | 'syncing' | 'synced' | 'failed';

export interface RepositoriesTable {
  name: string;
  /** Stays when a repository of the same name is made later, which has another one. */
  id: Generated<string>;
  kind: RepositoryKind;
  url: string | null;
  ref: string | null;
  path: string | null;
  source: string | null;
  commit_id: string | null;
  state: RepositoryState;
  /** What the last sync failed with; null after a sync that succeeded. */
  code: ColumnType<string | null, string | null | undefined, string | null>;
  reason: string | null;
  /** Number of the last sync that was asked for, and of the last that has ended. */
  sync_wanted: Generated<number>;
  sync_done: Generated<number>;
  /** End of the last sync that succeeded. */
  synced_at: OptionalTime;
  created_at: Time;
  updated_at: Time;
  actor: string | null;
}

/** Bytes of files, once for each content. */
export interface ContentsTable {
  hash: string;
  content: Buffer;
}

export interface DefinitionsTable {
  repository: string;
  name: string;
  version: string;
  /** Hash of the whole content: of each path and the hash of its file. */
  hash: string;
  definition: Json<Definition>;
  /** Hash of each file by its path. */
  files: Json<Record<string, string>>;
  created_at: Time;
  actor: string | null;
}

/** What of the definition an instance needs is a copy, so that a later version does not alter it. */
export interface ResourcesTable {
  name: string;
  repository: string;
  definition: string;
  version: string;
  hash: string;
  handler: Handler;
  actions: Json<Record<string, ActionDefinition>>;
  meta_inputs: Json<Record<string, InputDefinition>>;
  type_limit: number | null;
  /** Own values. */
  inputs: Json<Record<string, unknown>>;
  tags: string[];
  state: ResourceState;
  /** Of a resource that is marked removed: the state that a discard brings back. */
  state_before: ResourceState | null;
  /** Grows with each change. */
  marker: ColumnType<number, never, never>;
  created_at: Time;
  updated_at: Time;
  actor: string | null;
}

export interface ConnectionsTable {
  id: string;
  /** Grows in the order in which connections are made. */
  place: Generated<number>;
  emitter: string;
  emitter_input: string;
  receiver: string;
  receiver_input: string;
  /** Member of an object; empty for the whole input. */
  receiver_key: string;
  /** Which events it made, for the day when it is put back. */
  policy: string;
  created_at: Time;
  actor: string | null;
}

export interface EventsTable {
  id: string;
  type: 'depends_on' | 'react_on';
  parent: string;
  /** `*` for every action but `remove`. */
  parent_action: string;
  on_outcome: string;
  child: string;
  child_action: string;
  source: string;
  /** The connection that made it; it goes with the last connection of the pair. */
  connection: string | null;
  created_at: Time;
  actor: string | null;
}

export interface StagedItemsTable {
  uid: string;
  place: Generated<number>;
  resource: string;
  action: string;
  /** A user asked for this very action, so it stays without a difference. */
  explicit: boolean;
  state: ItemState;
  diff: Json<DiffEntry[]>;
  connections_diff: Json<DiffEntry[]>;
  base_path: string;
  tags: string[];
  /** The open plan that has it. */
  plan: string | null;
  /** Set in the transaction that removes it, for the audit. */
  discarded: Generated<boolean>;
  staged_at: Time;
  actor: string | null;
}

/** What the machines are believed to have. */
export interface CommittedTable {
  resource: string;
  inputs: Json<Record<string, unknown>>;
  connections: Json<ConnectionTuple[]>;
  tags: string[];
  base_path: string;
  state: CommittedState;
  updated_at: Time;
}

export interface HistoryTable {
  uid: string;
  place: Generated<number>;
  resource: string;
  action: string;
  diff: Json<DiffEntry[]>;
  connections_diff: Json<DiffEntry[]>;
  base_path: string;
  tags: string[];
  plan: string | null;
  committed_at: Time;
}

export interface PropagationTables extends PlanTables {
  propagation_repositories: RepositoriesTable;
  propagation_contents: ContentsTable;
  propagation_definitions: DefinitionsTable;
  propagation_resources: ResourcesTable;
  propagation_connections: ConnectionsTable;
  propagation_events: EventsTable;
  propagation_staged_items: StagedItemsTable;
  propagation_committed: CommittedTable;
  propagation_history: HistoryTable;
}
