import { someOf } from '../some-of.ts';

/** Holders that the sentence names. */
export const NAMED_HOLDERS = 3;

/** Who has the slots that a session waits for. */
export interface SlotHolder {
  session: string;
  since: Date;
}

/**
 * Why a session waits for a slot, for people: `waits for a slot: 1 of 1 taken, by hang for 7 s (option max_running_sessions)`. Without `holders`
 * nothing is said of them; of many the first are named, which are those that have theirs longest.
 */
export function describeSlotWait(
  { taken, limit, holders }: { taken: number; limit: number; holders: readonly SlotHolder[] },
  now: Date,
): string {
  const named = holders.slice(0, NAMED_HOLDERS).map(({ session, since }) => `\`${session}\` for ${age(since, now)}`);
  const by = named.length === 0 ? '' : `, by ${someOf(named, ', ', Math.max(taken, named.length))}`;
  return `waits for a slot: ${taken} of ${limit} taken${by} (option max_running_sessions)`;
}

/** `7 s`, `12 min`, `5 h`, `3 d`: whole units, as large as leaves at least two of them. */
function age(since: Date, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - since.getTime()) / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
