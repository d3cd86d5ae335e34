/** The tables of lane deployments, as Kysely sees them. */
import type { Generated, GeneratedAlways } from 'kysely';
import type { ContextState, Phase } from '../../domain/deployments/context-state.ts';
import type { Finding } from '../../domain/deployments/finding.ts';
import type { OwnerState } from '../../domain/deployments/history.ts';
import type { RecordKind } from '../../domain/deployments/record-path.ts';
import type { ContextSettings } from '../../domain/deployments/record-schema.ts';
import type { RsyncStatus } from '../../domain/deployments/resource-status.ts';
import type { Metadata } from '../../domain/deployments/schema.ts';
import type { Json, OptionalTime, Time } from '../connection/column-types.ts';
import type { WatchTables } from './watch-tables.ts';

export interface ClusterProvidersTable {
  name: string;
  metadata: Json<Metadata>;
  /** Work under an `Idempotency-Key` that has made it. */
  operation: string | null;
  created_at: Time;
  updated_at: Time;
  actor: string | null;
}

export interface MemberClustersTable {
  provider: string;
  name: string;
  metadata: Json<Metadata>;
  server: string;
  /** The file as it came, sealed (see control/deployments/cluster-seal.ts). */
  kubeconfig: Buffer;
  /** Counted up when the credential is replaced. */
  credential_revision: Generated<number>;
  credential_ends: OptionalTime;
  operation: string | null;
  created_at: Time;
  updated_at: Time;
  actor: string | null;
}

export interface MemberClusterLabelsTable {
  provider: string;
  cluster: string;
  label: string;
  operation: string | null;
  created_at: Time;
  actor: string | null;
}

/** What the last probe of a cluster said. A row of its own, so that probes are no changes of the cluster. */
export interface MemberClusterProbesTable {
  provider: string;
  name: string;
  due_at: Time;
  is_answering: Generated<boolean>;
  last_seen: OptionalTime;
  version: string | null;
  reason: string | null;
  message: string | null;
  /** Time of the last probe; null: none yet. */
  probed_at: OptionalTime;
  /** Webhooks were told that it is away. */
  away_told: Generated<boolean>;
  /** Revision of the credential of whose end webhooks were told. */
  end_told: number | null;
}

/** Projects and everything below them, and controllers. */
export interface PlacementRecordsTable {
  /** The path below `/v2/`, which is the key of the record and holds those of its parents. */
  path: string;
  kind: RecordKind;
  parent: string | null;
  /** Order in which records were made. */
  position: GeneratedAlways<number>;
  metadata: Json<Metadata>;
  spec: Json<object>;
  operation: string | null;
  created_at: Time;
  updated_at: Time;
  actor: string | null;
}

export interface PlacementFilesTable {
  path: string;
  /** As it came, sealed. */
  content: Buffer;
}

interface ManifestColumns {
  /** Install order within the app. */
  number: number;
  key: string;
  api_group: string;
  version: string;
  kind: string;
  namespace: string;
  name: string;
  /** JSON, without the values of a Secret. */
  manifest: string;
  /** The values of a Secret, sealed, and the place under which they open. */
  seal_id: string | null;
  sealed: Buffer | null;
}

export interface AppManifestsTable extends ManifestColumns {
  app: string;
}

export interface DeploymentContextsTable {
  id: string;
  /** Path of the deployment intent group or of the logical cloud. */
  owner: string;
  /** Path of the logical cloud that it goes to; empty for the AppContext of a cloud itself. */
  cloud: string;
  state: ContextState;
  /** What the engine is to do; null: nothing. */
  wanted: Phase | null;
  is_stopped: Generated<boolean>;
  namespace: string;
  settings: Json<ContextSettings>;
  created_at: Time;
  wanted_at: Time;
  /** Begin of the phase that is wanted; null: it has not begun. */
  phase_began_at: OptionalTime;
  changed_at: Time;
  actor: string | null;
}

/** The one row that says since when no new phase begins; null: they begin. */
export interface DeploymentPauseTable {
  single: Generated<boolean>;
  paused_at: OptionalTime;
}

export interface DeploymentActionsTable {
  owner: string;
  number: number;
  state: OwnerState;
  /** Empty where the action has none. */
  instance: string;
  revision: number;
  time: Time;
  actor: string | null;
  operation: string | null;
}

export interface ContextManifestsTable extends ManifestColumns {
  context: string;
  app: string;
}

/** One app on one cluster. */
export interface ContextGroupsTable {
  context: string;
  app: string;
  /** Order of the apps. */
  position: number;
  provider: string;
  cluster: string;
  /** Since then something of it may be there; null: nothing was sent yet. */
  applied_at: OptionalTime;
}

export interface ContextResourcesTable {
  context: string;
  app: string;
  provider: string;
  cluster: string;
  key: string;
  number: number;
  status: RsyncStatus;
  /** An apply was sent, or is about to be. */
  attempted: Generated<boolean>;
  finding: Finding | null;
  /** Label of the AppContext that the object was taken from. */
  former_owner: string | null;
  /** The object is about to be given up, or was. */
  releasing: Generated<boolean>;
  uid: string | null;
  resource_version: string | null;
  /** Since when the object, or its namespace, is seen being deleted. */
  waits_since: OptionalTime;
  /** Namespace that the object was sent to; empty: its kind has none; null: nothing was sent. */
  sent_namespace: string | null;
  /** An apply is on its way until then at the latest; null: none is. */
  call_until: OptionalTime;
  /** The same of former applies whose end was not recorded. */
  stray_until: OptionalTime;
  reason: string | null;
  message: string | null;
  attempts: Generated<number>;
  changed_at: Time;
}

/** A group that waits for its cluster. */
export interface ContextWaitsTable {
  context: string;
  app: string;
  provider: string;
  cluster: string;
  phase: Phase;
  since: Time;
  /** The cluster asked not to be called before. */
  not_before: Time;
  /** How often the cluster is probed while it waits, ms. */
  retry_ms: number;
}

/** A deployment that was made of one document. */
export interface ShortDeploymentsTable {
  path: string;
  /** Digest of what the document said, sealed: values of Secrets cannot be guessed from it. */
  content: Buffer;
}

/** A deployment that is to be removed. */
export interface DeploymentRemovalsTable {
  path: string;
  asked_at: Time;
  actor: string | null;
}

/** Number of the next event of an AppContext. */
export interface ContextStreamsTable {
  context: string;
  next_event: Generated<number>;
}

export interface ContextEventsTable {
  context: string;
  number: number;
  time: Time;
  type: string;
  data: Json<object>;
}

export interface DeploymentTables extends WatchTables {
  cluster_providers: ClusterProvidersTable;
  member_clusters: MemberClustersTable;
  member_cluster_labels: MemberClusterLabelsTable;
  member_cluster_probes: MemberClusterProbesTable;
  placement_records: PlacementRecordsTable;
  placement_files: PlacementFilesTable;
  app_manifests: AppManifestsTable;
  deployment_contexts: DeploymentContextsTable;
  deployment_pause: DeploymentPauseTable;
  deployment_actions: DeploymentActionsTable;
  context_manifests: ContextManifestsTable;
  context_groups: ContextGroupsTable;
  context_resources: ContextResourcesTable;
  context_waits: ContextWaitsTable;
  context_streams: ContextStreamsTable;
  context_events: ContextEventsTable;
  short_deployments: ShortDeploymentsTable;
  deployment_removals: DeploymentRemovalsTable;
}
