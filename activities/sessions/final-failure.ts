import { ApplicationFailure } from '@temporalio/activity';
import type { ErrorCode } from '../../domain/errors.ts';

/** Temporal keeps 2 KB of a failure. */
const MESSAGE_MAX = 1_000;

/**
 * The end of something that is on record already: nothing that is done again changes it, whatever the catalogue says of trying again after
 * `code`.
 */
export function finalFailure(code: ErrorCode, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message.slice(0, MESSAGE_MAX), code);
}
