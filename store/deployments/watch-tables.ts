/** The tables of what is there in member clusters, as Kysely sees them. */
import type { Generated } from 'kysely';
import type { OptionalTime, Time } from '../connection/column-types.ts';

/** Which worker watches a cluster: what it writes counts while the number is still its own. */
export interface ClusterWatchesTable {
  provider: string;
  cluster: string;
  /** Counted up by each worker that takes the watch. */
  number: number;
  until: Time;
}

/** How the watch of one kind stands. */
export interface ClusterWatchKindsTable {
  provider: string;
  cluster: string;
  api_group: string;
  kind: string;
  version: string;
  /** Counted up by each list. */
  list_number: Generated<number>;
  is_supported: Generated<boolean>;
  /** Begin of the last list that ended. */
  listed_at: OptionalTime;
  failing_since: OptionalTime;
  reason: string | null;
  message: string | null;
}

/** An object with our label as it was last seen. */
export interface ClusterObjectsTable {
  provider: string;
  cluster: string;
  api_group: string;
  kind: string;
  namespace: string;
  name: string;
  version: string;
  uid: string;
  /** What its label names: the AppContext may be one that this installation does not know. */
  context: string;
  app: string;
  /** The list in which, or since which, it was seen. */
  list_number: number;
  /** JSON, without values of Secrets. */
  object: string;
  seen_at: Time;
}

export interface WatchTables {
  cluster_watches: ClusterWatchesTable;
  cluster_watch_kinds: ClusterWatchKindsTable;
  cluster_objects: ClusterObjectsTable;
}
