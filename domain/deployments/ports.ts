/** What lane deployments needs from outside; drivers fit these shapes. */
import type { ClusterAnswer, NoAnswer } from './answer-class.ts';
import type { LiveMetadata } from './finding.ts';
import type { ClusterCredential } from './kubeconfig.ts';
import type { Identity } from './manifest-identity.ts';
import type { Members } from './members.ts';
import type { ServedKind } from './object-path.ts';
import type { ReadManifests } from './read-manifests.ts';

/** A kubeconfig that was read and checked. */
export interface CheckedCredential {
  credential: ClusterCredential;
  /** End of the client certificate or of the token; null where it has none. */
  endsAt: Date | null;
}

/**
 * Reads a kubeconfig without ever loading it, and checks where it leads.
 * Throws `invalid_kubeconfig`, `cluster_address_not_allowed`.
 */
export type ReadKubeconfig = (kubeconfig: Uint8Array) => Promise<CheckedCredential>;

/**
 * Reads an app's archive; `bytes`: the size of its files. `mostBytes`: less than an archive may have, where others have used some of it.
 * Throws `render_failed`.
 */
export type ReadArchive = (archive: Uint8Array, mostBytes?: number) => Promise<ReadManifests & { bytes: number }>;

/** Packs the YAML of an app's manifests as an archive; the same text is always the same archive. */
export type PackManifests = (manifests: string) => Promise<Buffer>;

export type VersionAnswer = { version: string } | NoAnswer | { refused: string; message: string };

/** What came back of a call, and what of it is needed. */
export interface Asked<Found> {
  answer: ClusterAnswer | NoAnswer;
  /** Null where the answer is not the object that was asked for. */
  found: Found | null;
}

/** What tells one state of an object from all others. */
export interface Precondition {
  uid: string;
  resourceVersion: string;
}

/** What is watched of a kind. */
export interface KindWatch {
  /** Path of the collection in all namespaces. */
  path: string;
  /** Data stay in their cluster. */
  isMetadataOnly: boolean;
  /** Version behind which it goes on; null: all that is there is told first. */
  after: string | null;
}

/** `listed`: all that was there has been told. */
export type WatchMessage = { is: 'there' | 'gone'; object: Members } | { is: 'open' | 'listed' };

/** How a watch has ended. */
export interface WatchEnd {
  /** Version up to which everything was told; null: all has to be listed again. */
  version: string | null;
  /** Why it could not go on; null: it was its time. */
  failed: ClusterAnswer | NoAnswer | null;
}

/** Member clusters, each reached by a credential. No call rejects. */
export interface MemberClusters {
  /**
   * Asks for the version, on a connection of its own. `withinMs`: default the time limit of each call. `heardMs`: an answer of the cluster to any
   * call with this credential is enough that came at most so long ago in this process, behind a version that was told here; and questions at the
   * same time are one; default: it is asked.
   */
  readVersion(credential: ClusterCredential, withinMs?: number, heardMs?: number): Promise<VersionAnswer>;
  /** One member cluster as a piece of work sees it. */
  openMember(credential: ClusterCredential): MemberCluster;
}

export interface KindQuestion {
  /** Ends it as a connection that is lost. */
  signal?: AbortSignal;
  /** What other work has learned does not count: the kind may have been defined anew. */
  isAnew?: boolean;
}

/** Paths are those of `object-path.ts`. */
export interface MemberCluster {
  /** Asks for the version: whether it answers anything at all. */
  readVersion(): Promise<Asked<never>>;
  /**
   * Returns how a kind is served; `found` is null, in an answer that is accepted, where the kind is not known. What other work has learned may be up
   * to 10 min old. The cluster is asked anew where the kind is not known.
   */
  findKind(identity: Pick<Identity, 'group' | 'version' | 'kind'>, how?: KindQuestion): Promise<Asked<ServedKind>>;
  /** Reads the metadata of an object. */
  readMetadata(path: string): Promise<Asked<LiveMetadata>>;
  /** Server-side apply of a manifest as it is. */
  apply(path: string, manifest: Members): Promise<Asked<LiveMetadata>>;
  /** Deletes an object that has not changed since it was read; what belongs to it goes in the background. */
  delete(path: string, precondition: Precondition): Promise<Asked<never>>;
  /**
   * Watches the objects of a kind that have our label, whatever its value, and tells of each; the next message waits until the former is taken.
   * It ends by itself from time to time. Throws what `take` throws.
   */
  watchKind(watch: KindWatch, take: (message: WatchMessage) => Promise<void>, signal: AbortSignal): Promise<WatchEnd>;
  /** Sets our label (null: takes it off) on an object that has not changed since it was read. */
  relabel(path: string, precondition: Precondition, label: string | null): Promise<Asked<never>>;
}
