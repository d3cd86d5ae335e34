/** What workflows of lane components ask of their activities. */

export interface HardwareSyncAnswer {
  /** Milliseconds until the next look; less than the interval, so that a shorter one is noticed. */
  waitMs: number;
  /** A sentence for who looks at the workflow alone. */
  summary: string;
}

export interface HardwareSyncActivities {
  /** Makes components of new nodes, when that is due; null where there is no hardware manager to ask. */
  syncHardware(): Promise<HardwareSyncAnswer | null>;
  /** Starts the sync if it does not run. */
  ensureHardwareSync(): Promise<void>;
}
