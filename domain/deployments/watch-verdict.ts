/** What it means for a kind that its watch could not go on. */
import { type ClusterAnswer, classOf, type NoAnswer } from './answer-class.ts';

export interface WatchVerdict {
  /** `unsupported`: the cluster does not serve the kind, or does not let it be watched. `failing`: it is tried again. */
  is: 'unsupported' | 'failing';
  reason: string;
  message: string;
  /** The cluster asked for so long a rest, s. */
  retryAfter: number | null;
}

/** Not found, no permission, or no verb for it. */
const UNSUPPORTED = [403, 404, 405];

/** First and longest rest before a watch begins again, ms. */
const AGAIN_MS = 1_000;
const AGAIN_MAX_MS = 30_000;

/** Longest rest before a kind is asked for again that the cluster does not serve, ms. */
const UNSUPPORTED_MAX_MS = 60_000;

/** Returns the rest before a kind is asked for again that the cluster does not serve, ms: what defines it may be on its way. */
export function unsupportedPause(failures: number): number {
  return Math.min(UNSUPPORTED_MAX_MS, AGAIN_MS * 2 ** Math.min(failures, 10));
}

/** Returns what an answer in place of a stream means. */
export function verdictOf(answer: ClusterAnswer | NoAnswer): WatchVerdict {
  const said = classOf('read', answer, false);
  const words = { reason: 'reason' in said ? said.reason : 'NotFound', message: 'message' in said ? said.message : '' };
  const retryAfter = 'retryAfter' in said ? said.retryAfter : null;
  const isOfServer = said.is === 'absent' || (said.is === 'refused' && words.reason !== 'NotKubernetes');
  const isUnsupported = isOfServer && !('noAnswer' in answer) && UNSUPPORTED.includes(answer.httpStatus);
  return { is: isUnsupported ? 'unsupported' : 'failing', ...words, retryAfter };
}

/**
 * Returns the rest before a watch begins again, ms: longer after each failure, and of no two watches the same.
 * @param failures ends in a row that were no success
 * @param chance from 0 to 1
 */
export function watchPause(failures: number, chance: number, retryAfter: number | null = null): number {
  const longest = Math.min(AGAIN_MAX_MS, AGAIN_MS * 2 ** Math.min(failures, 10));
  return Math.max((retryAfter ?? 0) * 1000, Math.round(longest * (0.5 + chance / 2)));
}
