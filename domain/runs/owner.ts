/** Whom a run belongs to: a session, or a record of any other lane that has runs. */

/** Kind of the owners that are sessions. Their runs name them in a column of their own, as they did before there were other owners. */
export const SESSION_KIND = 'session';

export interface Owner {
  /** Word of the lane for its owners, in the singular: `session`, `reconcile`. */
  kind: string;
  id: string;
}

/** What a lane says of the owners of its runs. */
export interface RunOwner {
  kind: string;
  /** Id of the owner of a run with this id, as far as the id alone tells; null for a run of another kind. */
  ownerOfRun(runId: string): string | null;
  /** Those of these owners whose work is not over. An owner that is not on record is over. */
  open(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** What the lane wants to know of runs of which nobody has seen the end; absent where it wants nothing. */
  unseen?: UnseenRuns;
}

/** Runs that a lane takes for over, although their machine has not confirmed it. */
export interface UnseenRuns {
  /** Returns the ids of those that a machine has to confirm, at most as many as one clean-up does. */
  list(machine: string): Promise<readonly string[]>;
  /** Hears that nothing of a run is left, and that it never starts any more. */
  gone(runId: string): Promise<void>;
}

/** The owner of a run on record; null for a run that belongs to nothing. */
export function ownerOf(run: {
  sessionId: string | null;
  ownerKind: string | null;
  ownerId: string | null;
}): Owner | null {
  if (run.sessionId !== null) return { kind: SESSION_KIND, id: run.sessionId };
  return run.ownerKind === null || run.ownerId === null ? null : { kind: run.ownerKind, id: run.ownerId };
}

const RUN_ID = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const LONGEST_RUN_ID = 100;

/**
 * Id of the n-th run of an owner that is no session: `<kind>-<owner id>-<n>`. It is derived and never drawn, so that a repeated
 * activity finds the run that it has made. Throws where the parts make no run id, which is a mistake of the lane.
 */
export function runIdOfOwner({ kind, id }: Owner, n: number): string {
  const runId = `${kind}-${id}-${n}`;
  if (!RUN_ID.test(runId) || runId.length > LONGEST_RUN_ID) {
    throw new Error(`${runId} is no id of a run: at most ${LONGEST_RUN_ID} lower-case letters, digits and hyphens`);
  }
  return runId;
}

/** The owner of this kind whose run has this id; null for a run of another kind. */
export function ownerIdOfRun(kind: string, runId: string): string | null {
  const id = runId.startsWith(`${kind}-`) ? /^(.+)-[0-9]+$/.exec(runId.slice(kind.length + 1))?.[1] : undefined;
  return id ?? null;
}

/** What the clean-up of a machine does with a run that it finds. */
export type RunFate = 'leave' | 'end' | 'remove' | 'unknown_kind';

/**
 * What becomes of a run on a machine. `recorded`: its row with its owner, null where there is none. `kinds`: what the lanes of this
 * process offer. `isOpen`: whether an owner is open. A run without a row belongs to the owner that reads its id as its own.
 */
export function fateOfRun(
  runId: string,
  recorded: { owner: Owner | null } | null,
  owners: readonly Pick<RunOwner, 'kind' | 'ownerOfRun'>[],
  isOpen: (owner: Owner) => boolean,
): RunFate {
  if (recorded === null) return ownersByName(runId, owners).some(isOpen) ? 'leave' : 'remove';
  const { owner } = recorded;
  // A run of nothing is ended by nothing; benches and tests make some.
  if (owner === null) return 'leave';
  if (!owners.some(({ kind }) => kind === owner.kind)) return 'unknown_kind';
  return isOpen(owner) ? 'leave' : 'end';
}

/** The owners that read this id as one of their own runs. */
export function ownersByName(runId: string, owners: readonly Pick<RunOwner, 'kind' | 'ownerOfRun'>[]): Owner[] {
  return owners.flatMap(({ kind, ownerOfRun }) => {
    const id = ownerOfRun(runId);
    return id === null ? [] : [{ kind, id }];
  });
}
