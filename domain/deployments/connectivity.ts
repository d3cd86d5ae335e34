/** What the probes of a cluster say of it. */

export const CONNECTIVITIES = ['Reachable', 'Retrying', 'Unreachable'] as const;
export type Connectivity = (typeof CONNECTIVITIES)[number];

/** How often a cluster without an AppContext is probed, and one that has one or did not answer, ms. */
const PROBE_CALM_MS = 60_000;
export const PROBE_MS = 20_000;

/**
 * Returns the rest until the next probe, ms. Work that waits has the cluster probed at its own intervals; a cluster that is back has all
 * of it woken, and what waits again asks for its own probe.
 * @param retryMs intervals of the work that waits for the cluster
 */
export function probePause(isAnswering: boolean, isUsed: boolean, retryMs: readonly number[]): number {
  if (isAnswering) return isUsed ? PROBE_MS : PROBE_CALM_MS;
  return Math.min(PROBE_MS, ...retryMs);
}

export interface Probed {
  /** The last probe succeeded. */
  isAnswering: boolean;
  /** Last success; null: there was none. */
  lastSeen: Date | null;
}

/** Returns the connectivity at a time. */
export function connectivityOf({ isAnswering, lastSeen }: Probed, now: Date, staleAfterMs: number): Connectivity {
  if (lastSeen === null) return 'Unreachable';
  if (isAnswering) return 'Reachable';
  return now.getTime() - lastSeen.getTime() >= staleAfterMs ? 'Unreachable' : 'Retrying';
}
