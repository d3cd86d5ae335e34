import type { ConfigurationStatus, StateLayer } from '../components/schema.ts';
import type { HostStatus } from '../runs/schema.ts';

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
  /**
   * Whether commit or playbook of a desired layer changed since it was collected (or re-validated at sending), or a layer of its
   * session is another one now.
   */
  desiredChanged: boolean;
  /** Whether it reported a boot after its session was admitted. */
  rebooted: boolean;
  /** Whether it was missing in the session's inventory. */
  absent: boolean;
}

/** What a session recorded of one layer of one host. */
export interface HostLayer {
  layer: number;
  status: HostStatus;
  /** The run of the layer ended without statistics of its own. */
  brokeOff?: boolean;
}

/** The session of a batch that ends. */
export interface EndedSession {
  name: string;
  /** Comma list of the indices of layers that it was made for; empty: all. */
  layers: string;
  /** By host, what it recorded on components that were there; empty where its runner reports to the components itself. */
  results: ReadonlyMap<string, readonly HostLayer[]>;
  /** Hosts of its plays that no task reached. */
  notReached?: ReadonlySet<string>;
}

/** What the end of a batch writes into one member, in this order. */
export interface MemberWrite {
  id: string;
  entries: Omit<StateLayer, 'last_updated'>[];
  /** Added to its error count. */
  errors: 0 | 1;
}

/** What a session was made to run, by the index in the configuration. */
export interface SessionLayer {
  index: number;
  url: string;
  playbook: string;
  commit: string | null;
}

/**
 * Whether a layer of the session is not what the component desires in its place any more: another address, commit or playbook, or
 * none. What the session did then says nothing about what is desired now.
 */
export function differsFromSession(layers: readonly LayerNow[], had: readonly SessionLayer[]): boolean {
  return had.some(({ index, url, playbook, commit }) => {
    const now = layers[index];
    return now?.clone_url !== url || now.playbook !== playbook || now.commit !== commit;
  });
}

/** Whether the end of a batch may still say something about the member: it is pending and desires what was collected. */
export function isOpenQuestion(member: MemberNow): boolean {
  return member.status === 'pending' && !member.desiredChanged;
}

/**
 * The failure entry: `failed` for the first pending layer of the session only, and one more error. Null when none of its layers
 * is pending.
 */
export function failureWrite(member: MemberNow, session: Pick<EndedSession, 'name' | 'layers'>): MemberWrite | null {
  const entries = pendingEntries(member, 'failed', session).slice(0, 1);
  return entries.length === 0 ? null : { id: member.id, entries, errors: 1 };
}

/** Entries of a status for pending layers of the session, those that `counts` lets through, in the configuration's order. */
export function pendingEntries(
  member: MemberNow,
  status: 'skipped' | 'failed',
  { name, layers }: Pick<EndedSession, 'name' | 'layers'>,
  counts: (layer: number) => boolean = () => true,
): MemberWrite['entries'] {
  const chosen = layers === '' ? null : new Set(layers.split(',').map(Number));
  return member.layers.flatMap(({ clone_url, playbook, commit, status: now }, index) => {
    if (now !== 'pending' || chosen?.has(index) === false || !counts(index)) return [];
    return [{ clone_url, playbook, commit, status, session_name: name }];
  });
}
