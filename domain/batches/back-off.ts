/** Results that are remembered, and failures in a row that hold a key back (cfs-flows 9). */
const REMEMBERED_RESULTS = 20;
/** The first back-off, in seconds. */
const FIRST_BACK_OFF = 60;
/** A key that was not seen for this long is forgotten, in milliseconds. */
export const KEY_FORGOTTEN_AFTER = 24 * 3600 * 1000;

/** A hold on sending: until `start` (milliseconds) plus `length` (seconds), then one probe. */
export interface BackOff {
  /** 0: nothing is held. */
  length: number;
  start: number;
  /** Id of the batch that tries whether things are better, while it is out. */
  probe: string | null;
}

export const NO_BACK_OFF: BackOff = { length: 0, start: 0, probe: null };

export interface GlobalBackOff extends BackOff {
  /** Of the last batches that ended, oldest first; true is success. */
  results: boolean[];
}

/** The state before any batch ended: as if 20 had succeeded. */
export const FIRST_GLOBAL: GlobalBackOff = { ...NO_BACK_OFF, results: Array(REMEMBERED_RESULTS).fill(true) };

export interface KeyBackOff extends BackOff {
  failuresInARow: number;
  /** Hash of what the key's configuration desired when it was last seen. */
  desired: string;
  lastSeenAt: number;
}

/** A batch that ended in this pass. */
export interface BatchEnd {
  batch: string;
  success: boolean;
}

/** The end of a batch of some key, with what its configuration desired when it was sent. */
export interface KeyEnd extends BatchEnd {
  desired: string;
}

/** The instant, in milliseconds, until which nothing is sent. */
export function heldUntil(backOff: BackOff): number {
  return backOff.start + backOff.length * 1000;
}

/** Full rate, nothing until `heldUntil`, or one batch alone as the probe. */
export function sendingRate(backOff: BackOff, now: number): 'full' | 'none' | 'probe' {
  if (backOff.length === 0) return 'full';
  return now < heldUntil(backOff) ? 'none' : 'probe';
}

/**
 * The global back-off after a pass in which `ended` ended; a pass without an end changes nothing. Any success among the
 * remembered 20 clears it. When all failed and it has run out it is 60 s, or doubled, at most `cap` seconds; while a probe is
 * out only that one's own failure doubles it (cfs-flows 5.2, 8.11).
 */
export function afterEnds(state: GlobalBackOff, ended: readonly BatchEnd[], now: number, cap: number): GlobalBackOff {
  if (ended.length === 0) return state;
  const results = [...state.results, ...ended.map(({ success }) => success)].slice(-REMEMBERED_RESULTS);
  // A success of this pass counts, also when 20 failures of the same pass came after it.
  if (results.includes(true) || ended.some(({ success }) => success)) return { ...NO_BACK_OFF, results };
  return { ...lengthened(state, ended, now, { first: FIRST_BACK_OFF, cap }), results };
}

/**
 * The back-off of one key after batches of it ended: 20 failures in a row hold it back, a success clears everything. Sessions of
 * what the configuration desired earlier say nothing.
 */
export function afterKeyEnds(state: KeyBackOff, ends: readonly KeyEnd[], now: number, cap: number): KeyBackOff {
  const ended = ends.filter(({ desired }) => desired === state.desired);
  if (ended.length === 0) return state;
  if (ended.some(({ success }) => success)) return { ...state, ...NO_BACK_OFF, failuresInARow: 0 };
  const failuresInARow = state.failuresInARow + ended.length;
  if (failuresInARow < REMEMBERED_RESULTS) return { ...state, failuresInARow };
  return { ...state, ...lengthened(state, ended, now, { first: FIRST_BACK_OFF, cap }), failuresInARow };
}

/** A key that is seen at `now` with what it desires; one that was unknown, forgotten or desires something else starts afresh. */
export function seenKey(state: KeyBackOff | undefined, desired: string, now: number): KeyBackOff {
  if (state === undefined || isForgotten(state, now) || state.desired !== desired) {
    return { ...NO_BACK_OFF, failuresInARow: 0, desired, lastSeenAt: now };
  }
  return { ...state, lastSeenAt: now };
}

/** Whether a key was not seen for so long that nothing is remembered of it. */
function isForgotten(state: Pick<KeyBackOff, 'lastSeenAt'>, now: number): boolean {
  return now - state.lastSeenAt >= KEY_FORGOTTEN_AFTER;
}

/** A hold after failures only: `first` seconds, or twice as long as before, at most `cap`; see `afterEnds` for what decides. */
export function lengthened(
  state: BackOff,
  ended: readonly BatchEnd[],
  now: number,
  { first, cap }: { first: number; cap: number },
): BackOff {
  const { length, start, probe } = state;
  const probeFailed = probe !== null && ended.some(({ batch }) => batch === probe);
  const decides = probe === null ? now >= heldUntil(state) : probeFailed;
  if (!decides) return { length, start, probe };
  return { length: Math.min(length === 0 ? first : length * 2, cap), start: now, probe: null };
}
