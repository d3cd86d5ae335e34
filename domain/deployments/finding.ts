/** Whose a live object is, before it is applied or deleted. Only its label tells: all deployments share one field manager. */
import { labelValue, parseLabelValue } from './naming.ts';

/** What was found before the first apply; it is stored before the call is sent. */
export type Finding = 'absent' | 'ours' | 'taken-over' | 'adopted';

export interface LiveMetadata {
  uid: string;
  resourceVersion: string;
  /** Value of our label; null without it. */
  label: string | null;
  isBeingDeleted: boolean;
}

export type Found = { finding: Finding; formerOwner?: string } | 'being-deleted';

/** Returns what a live object (null: none) means for the AppContext's apply. */
export function foundBeforeApply(live: LiveMetadata | null, context: string): Found {
  if (live === null) return { finding: 'absent' };
  if (live.isBeingDeleted) return 'being-deleted';
  const owner = live.label === null ? null : parseLabelValue(live.label);
  if (owner === null) return { finding: 'adopted' };
  if (owner.context === context) return { finding: 'ours' };
  return { finding: 'taken-over', formerOwner: live.label as string };
}

/** Returns the other owner whose label a live object has, in this AppContext or another; null: there is none. */
export function formerHolder(
  live: LiveMetadata | null,
  { context, app }: { context: string; app: string },
): { context: string; app: string } | null {
  const owner = live === null || live.label === null ? null : parseLabelValue(live.label);
  return owner !== null && (owner.context !== context || owner.app !== app) ? owner : null;
}

/** What termination does with an object. */
export type DeleteStep =
  | { do: 'delete'; uid: string; resourceVersion: string }
  /** Takes our label off, or gives the object to another AppContext's label, and leaves the object. */
  | { do: 'release'; uid: string; resourceVersion: string; label: string | null }
  | { do: 'nothing'; because: 'absent' | 'being-deleted' | 'not-owned' };

/**
 * Returns what termination does with a live object (null: none).
 * @param heir label of another owner of a Namespace or CustomResourceDefinition, which others may use; null: none
 */
export function stepOfDelete(
  live: LiveMetadata | null,
  { context, app }: { context: string; app: string },
  finding: Finding | null,
  heir: string | null,
): DeleteStep {
  if (live === null) return { do: 'nothing', because: 'absent' };
  if (live.label !== labelValue(context, app)) return { do: 'nothing', because: 'not-owned' };
  if (live.isBeingDeleted) return { do: 'nothing', because: 'being-deleted' };
  const { uid, resourceVersion } = live;
  if (heir !== null) return { do: 'release', uid, resourceVersion, label: heir };
  if (finding === 'adopted') return { do: 'release', uid, resourceVersion, label: null };
  return { do: 'delete', uid, resourceVersion };
}
