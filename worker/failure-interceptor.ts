import { CompleteAsyncError } from '@temporalio/activity';
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { ActivityExecuteInput, ActivityInboundCallsInterceptor, Next } from '@temporalio/worker';
import { failureOf } from '../control/failures.ts';
import { ERRORS } from '../domain/errors.ts';

/** Temporal keeps 2 KB of a failure; the record gets the same sentence. */
const MESSAGE_MAX = 1_000;
const STACK_MAX = 2_000;

/** Says a failure in Temporal's words: its code in the catalogue is the type, and the catalogue says whether to try again. */
export function translateFailures(): ActivityInboundCallsInterceptor {
  return {
    execute: async (input: ActivityExecuteInput, next: Next<ActivityInboundCallsInterceptor, 'execute'>) => {
      try {
        return await next(input);
      } catch (error) {
        if (error instanceof TemporalFailure || error instanceof CompleteAsyncError) throw error;
        const { code, detail } = failureOf(error);
        const failure = ApplicationFailure.create({
          type: code,
          message: detail.slice(0, MESSAGE_MAX),
          nonRetryable: !ERRORS[code].retryable,
        });
        if (code === 'internal' && error instanceof Error) failure.stack = error.stack?.slice(0, STACK_MAX) ?? '';
        throw failure;
      }
    },
  };
}
