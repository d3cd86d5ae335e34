import { ApplicationFailure } from '@temporalio/common';
import type { ActivityExecuteInput, ActivityInboundCallsInterceptor, Next } from '@temporalio/worker';
import { ERRORS, isMusterError } from '../domain/errors.ts';

/** Says an expected error in Temporal's words: the code is the type, and the catalogue says whether to try again. */
export function translateFailures(): ActivityInboundCallsInterceptor {
  return {
    execute: async (input: ActivityExecuteInput, next: Next<ActivityInboundCallsInterceptor, 'execute'>) => {
      try {
        return await next(input);
      } catch (error) {
        if (!isMusterError(error)) throw error;
        throw ApplicationFailure.create({
          type: error.code,
          // Temporal keeps 2 KB of a failure; the record gets the same sentence.
          message: error.detail.slice(0, 1_000),
          nonRetryable: !ERRORS[error.code].retryable,
        });
      }
    },
  };
}
