/** Why a resource reconciles, and what of it is more urgent. */
export const CAUSE_TYPES = [
  'created',
  'changed',
  'deleted',
  'dependent',
  'timer',
  'retry',
  'manual',
  'config',
  'resync',
] as const;
export type CauseType = (typeof CAUSE_TYPES)[number];

export interface Cause {
  type: CauseType;
  /** The dependent that changed. */
  object?: string;
  /** Who has changed it, as its managed fields say. */
  manager?: string;
  /** Who asked for it. */
  by?: string;
  /** Of a retry: the number of the try. */
  attempt?: number;
}

/** A cause on the row of its resource, with its time (ISO with ms and Z). */
export interface NotedCause extends Cause {
  at: string;
}

/** So many causes of a resource stay on record, the newest. */
export const CAUSES_KEPT = 20;

/** Classes of urgency: a smaller number goes first. */
const URGENCY: Readonly<Record<CauseType, number>> = {
  deleted: 0,
  created: 1,
  changed: 1,
  manual: 2,
  retry: 3,
  dependent: 4,
  timer: 5,
  config: 6,
  resync: 6,
};

/** Returns the class of urgency of a cause; a smaller number goes first. */
export function urgencyOf(type: CauseType): number {
  return URGENCY[type];
}
