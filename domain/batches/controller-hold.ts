/** A batch key whose sessions ended for a fault of the controller waits here, and is tried again one batch at a time. */
import type { ErrorCode } from '../errors.ts';
import { type BackOff, type BatchEnd, lengthened } from './back-off.ts';
import type { SessionVerdict } from './judge-session.ts';

/** The first pause after such a session, and the longest, in seconds: no host suffers from a try, so they stay short. */
export const FIRST_HOLD = 30;
export const LONGEST_HOLD = 300;
const PAUSES = { first: FIRST_HOLD, cap: LONGEST_HOLD };

/** Why a key is held, and until when. */
export interface ControllerHold extends BackOff, ControllerFault {
  /** When the first of the sessions in a row ended so, in milliseconds. */
  since: number;
}

/** What a session ended with. */
export interface ControllerFault {
  code: ErrorCode;
  /** The session's message. */
  reason: string;
  session: string;
  /** Stands for configuration, sources, secrets and options as they were when the session was made. */
  basis: string;
}

/** The end of a batch of some key. */
export interface JudgedEnd extends BatchEnd {
  /** Null of a batch that an older release ended. */
  verdict: SessionVerdict | null;
  fault: ControllerFault | null;
}

/**
 * The hold of a key after batches of it ended. A session whose playbooks ran ends it, whatever became of the hosts. Each try that
 * ends for a fault of the controller doubles the pause; a fault after something changed begins with the first pause again. A session
 * that never began says nothing.
 */
export function afterControllerEnds(
  hold: ControllerHold | undefined,
  ended: readonly JudgedEnd[],
  now: number,
): ControllerHold | undefined {
  if (ended.some(({ verdict }) => verdict === 'succeeded' || verdict === 'failed')) return undefined;
  const faults = ended.filter(({ fault }) => fault !== null);
  const last = faults.at(-1)?.fault;
  if (last === undefined || last === null) return hold;
  if (hold === undefined || hold.basis !== last.basis) {
    return { ...last, length: FIRST_HOLD, start: now, probe: null, since: hold?.since ?? now };
  }
  return { ...hold, ...last, ...lengthened(hold, faults, now, PAUSES) };
}

/** How the hold stands while the basis is `basis`: what changed since the last try is tried at once. */
export function holdNow(hold: ControllerHold, basis: string): ControllerHold {
  return hold.basis === basis ? hold : { ...hold, start: 0 };
}
