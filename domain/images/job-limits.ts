import type { ImageJobStatus } from './image-service.ts';
import { GRACE_SECONDS } from './job-turn.ts';

/** How long a machine may be away before the jobs that wait for it are given up, seconds: a day, as for a repair. */
const AWAY_SECONDS = 86_400;

/** What is known of a job, of the machine that it waits for, and of its user. */
export interface ImageJobWait {
  status: ImageJobStatus;
  createdAt: Date;
  /** Since when it is open for its user. */
  waitingSince: Date | null;
  /** Whether its user has said that it is done: then it waits to be packed. */
  isDone: boolean;
  /** For how long no machine has taken up what the job asked of it. */
  untakenSeconds: number;
  /** Whether a machine that can do what is next is there, and when one last was there and could; null: never. */
  machine: { isThere: boolean; seenAt: Date | null };
  userSeconds: number;
  /** Longest wait for the turn to be packed, which says itself when it is over. */
  queueSeconds: number;
}

/** Returns why a job ends whose user has let its time (s) go by. */
export function userIsLate(userSeconds: number): string {
  return `its user left no marker (complete or failed) within ${userSeconds} s (MUSTER_IMAGE_USER_WAIT)`;
}

/**
 * Why a job has waited too long by `now`, or null. Who is there and watches the job knows its user's limit himself; this is for what nobody
 * watches: a user's time that goes by while the machine is away, a machine that does not come back, and one that
 * is there and takes no work.
 */
export function waitedTooLong(wait: ImageJobWait, now: Date): string | null {
  const { status, createdAt, waitingSince, isDone, untakenSeconds, machine, userSeconds, queueSeconds } = wait;
  const secondsSince = (...times: (Date | null)[]) =>
    (now.getTime() - Math.max(...times.map((time) => time?.getTime() ?? 0))) / 1_000;
  if (!machine.isThere && secondsSince(createdAt, waitingSince, machine.seenAt) > AWAY_SECONDS) {
    return `no worker that can do it had its directory of images for ${AWAY_SECONDS} s`;
  }
  if (status !== 'waiting_on_user' && untakenSeconds >= AWAY_SECONDS) {
    return `its machine is there, but took up no work for ${AWAY_SECONDS} s`;
  }
  if (status !== 'waiting_on_user' || waitingSince === null) return null;
  const isUnwatched = !machine.isThere && !isDone;
  const toBePacked = isDone ? Math.max(AWAY_SECONDS, queueSeconds + GRACE_SECONDS) : AWAY_SECONDS;
  const limit = userSeconds + (isUnwatched ? 0 : toBePacked);
  if (secondsSince(waitingSince) <= limit) return null;
  return isUnwatched
    ? `${userIsLate(userSeconds)}, and its machine is away`
    : `it was not packed within ${limit} s after it was opened`;
}
