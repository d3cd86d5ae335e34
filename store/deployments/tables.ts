/** The tables of lane deployments, as Kysely sees them. */
import type { Generated } from 'kysely';
import type { Metadata } from '../../domain/deployments/schema.ts';
import type { Json, OptionalTime, Time } from '../connection/column-types.ts';

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
}

export interface DeploymentTables {
  cluster_providers: ClusterProvidersTable;
  member_clusters: MemberClustersTable;
  member_cluster_labels: MemberClusterLabelsTable;
  member_cluster_probes: MemberClusterProbesTable;
}
