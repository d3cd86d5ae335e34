/** What the probes of a cluster say of it. */

export const CONNECTIVITIES = ['Reachable', 'Retrying', 'Unreachable'] as const;
export type Connectivity = (typeof CONNECTIVITIES)[number];

/** How often a cluster without an AppContext is probed, and one that did not answer, ms. */
export const PROBE_CALM_MS = 60_000;
export const PROBE_MS = 20_000;

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
