/** What lane deployments needs from outside; drivers fit these shapes. */
import type { NoAnswer } from './answer-class.ts';
import type { ClusterCredential } from './kubeconfig.ts';
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

/** Reads an app's archive. Throws `render_failed`. */
export type ReadArchive = (archive: Uint8Array) => Promise<ReadManifests>;

export type VersionAnswer = { version: string } | NoAnswer | { refused: string; message: string };

/** Member clusters, each reached by a credential. */
export interface MemberClusters {
  /** Asks for the version, on a connection of its own. Never rejects. */
  readVersion(credential: ClusterCredential): Promise<VersionAnswer>;
}
