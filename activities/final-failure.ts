import { ApplicationFailure } from '@temporalio/activity';
import type { ErrorCode } from '../domain/errors.ts';

/** Temporal keeps 2 KB of a failure. */
const MESSAGE_MAX = 1_000;

/**
 * The end of something that is on record already: nothing that is done again changes it, whatever the catalogue says of trying again after
 * `code`.
 */
export function finalFailure(code: ErrorCode, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message.slice(0, MESSAGE_MAX), code);
}

/** Says that what is waited for is not there yet, in words that are on record already: it is waited for by the next try, which begins at once. */
export function stillWaiting(code: ErrorCode, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: code, message: message.slice(0, MESSAGE_MAX), nextRetryDelay: '1s' });
}
