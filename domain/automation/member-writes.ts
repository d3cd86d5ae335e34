import type { ConfigurationStatus, StateLayer } from '../components/schema.ts';

/** A desired layer with its status as it is now; a pending one has all three of repository, playbook and commit. */
export interface LayerNow {
  clone_url: string;
  playbook: string;
  commit: string;
  status: ConfigurationStatus;
}

/** A member of a batch that ends, as it is now. One that was deleted is not among them. */
export interface MemberNow {
  id: string;
  status: ConfigurationStatus;
  layers: readonly LayerNow[];
  /** Its last state entry, or null. */
  last: Pick<StateLayer, 'status' | 'session_name'> | null;
  /** Whether commit or playbook of a desired layer changed since it was collected (or re-validated at sending). */
  desiredChanged: boolean;
  /** Whether it reported a boot after its session was admitted. */
  rebooted: boolean;
  /** Whether it was missing in the session's inventory. */
  absent: boolean;
}

/** What the end of a batch writes into one member, in this order. */
export interface MemberWrite {
  id: string;
  entries: Omit<StateLayer, 'last_updated'>[];
  /** Added to its error count. */
  errors: 0 | 1;
}

/** Whether the end of a batch may still say something about the member: it is pending and desires what was collected. */
export function isOpenQuestion(member: MemberNow): boolean {
  return member.status === 'pending' && !member.desiredChanged;
}

/** The failure entry: `failed` for the first pending layer only, and one more error. */
export function failureWrite(member: MemberNow, session: string): MemberWrite {
  return { id: member.id, entries: pendingEntries(member, 'failed', session).slice(0, 1), errors: 1 };
}

/** Entries of a status for every pending layer, in the configuration's order. */
export function pendingEntries(
  member: MemberNow,
  status: 'skipped' | 'failed',
  session: string,
): MemberWrite['entries'] {
  return member.layers
    .filter((layer) => layer.status === 'pending')
    .map(({ clone_url, playbook, commit }) => ({ clone_url, playbook, commit, status, session_name: session }));
}
