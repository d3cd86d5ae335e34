/** Words of this lane for why a resource is as it is; beside them stand the reasons that API servers answer. */
export const REASONS = {
  Stopped: 'The phase was stopped before this resource was handled.',
  Skipped: 'This cluster was given up in this phase.',
  RetriesExceeded: 'The cluster could not be reached in all retries that are allowed.',
  Unauthorized: 'The cluster did not take the credential.',
  AddressNotAllowed: 'The address of the cluster is not one that Muster may connect to.',
  BeingDeleted: 'The object, or its namespace, is still being deleted.',
  TakenOver: 'The object belonged to another AppContext and belongs to this one now.',
  Released: 'The object was there before, or others still use it: the label was taken off and the object left.',
  NotOwned: 'The object belongs to another AppContext, or to none.',
  UnknownField: 'The manifest has a field that the schema of its kind does not know.',
  NotKubernetes: 'The answer is not of a Kubernetes API server.',
  Waiting: 'The resource waits for another that it depends on.',
  DependencyFailed: 'What the resource depends on failed.',
  DeletedOutside: 'The object was applied and is not there any more.',
  Changed: 'The object differs from its manifest.',
  Terminating: 'The object is being deleted.',
  Stale: 'Nothing is heard of the cluster, so the last known state may be old.',
  HandedOver: 'An update has taken the resource over.',
  Kept: 'The object was left in the cluster on request.',
} as const;
export type Reason = keyof typeof REASONS;
