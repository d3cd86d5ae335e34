/** Components of a rollout by what became of them. */

/** Counts of components, of one moment. */
export interface RolloutCounts {
  /** Enabled ones that desire the configuration. */
  components: number;
  /** Those of them that are pending, in sessions or not. */
  pending: number;
  /** Members of batches of the configuration that are sent. */
  inSessions: number;
  /** Of this rollout: sent and in a session; configured by it; and failed by it without being forgiven. */
  trying: number;
  done: number;
  failed: number;
  /** Of those that may be canaries. */
  canaries: CanaryCounts;
}

/** Counts of the components that may be canaries, of one moment; see `store/batches/canaries.ts` for which may. */
export interface CanaryCounts {
  /** Configured already, by this rollout or otherwise. */
  configured: number;
  /** Pending, in sessions or not. */
  able: number;
}
