/** Queue of workflows and of work that any runner machine may take. */
export const MAIN_QUEUE = 'muster';

/** Queue of the machine (data directory) with this id; a new disk has a new id, so work never waits for a lost one. */
export function hostQueueOf(hostId: string): string {
  return `muster-host-${hostId}`;
}
