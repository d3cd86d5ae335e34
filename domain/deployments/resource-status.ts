/** What the synchroniser did with a manifest on a cluster. */
export const RSYNC_STATUSES = ['Pending', 'Applied', 'Failed', 'Retrying', 'Deleted'] as const;
export type RsyncStatus = (typeof RSYNC_STATUSES)[number];

/** What becomes of a resource within a phase. */
export type Outcome = 'applied' | 'deleted' | 'failed' | 'retrying';

const STATUS_OF: Readonly<Record<Outcome, RsyncStatus>> = {
  applied: 'Applied',
  deleted: 'Deleted',
  failed: 'Failed',
  retrying: 'Retrying',
};

/** The changes that the work of a phase makes. Those of its begin are `statusAtTerminate`. */
const CHANGES: Readonly<Record<RsyncStatus, readonly RsyncStatus[]>> = {
  Pending: ['Applied', 'Failed', 'Retrying', 'Deleted'],
  Retrying: ['Applied', 'Failed', 'Retrying', 'Deleted'],
  Applied: [],
  Failed: [],
  Deleted: [],
};

/** Statuses that the work of each phase can end in. */
const IN_PHASE = { apply: ['Applied', 'Failed', 'Retrying'], delete: ['Deleted', 'Failed', 'Retrying'] } as const;

/** Whether nothing more is tried in this phase. */
export function isDone(status: RsyncStatus): boolean {
  return status === 'Applied' || status === 'Failed' || status === 'Deleted';
}

/** Whether the work of a phase may change a status so. */
export function isStatusChange(phase: 'apply' | 'delete', from: RsyncStatus, to: RsyncStatus): boolean {
  return CHANGES[from].includes(to) && (IN_PHASE[phase] as readonly RsyncStatus[]).includes(to);
}

/** Returns the status after an outcome. Throws where the change is not in the table: that is a fault of Muster. */
export function statusAfter(phase: 'apply' | 'delete', from: RsyncStatus, outcome: Outcome): RsyncStatus {
  const to = STATUS_OF[outcome];
  if (isStatusChange(phase, from, to)) return to;
  throw new Error(`a resource does not go from ${from} to ${to} in phase ${phase}`);
}

/**
 * Returns the status of a resource when deletion begins. A resource that was sent at least once may exist and is to be deleted; of
 * another nothing can be there.
 */
export function statusAtTerminate(status: RsyncStatus, wasSent: boolean): RsyncStatus {
  if (status === 'Deleted') return 'Deleted';
  return status === 'Applied' || wasSent ? 'Pending' : 'Deleted';
}
