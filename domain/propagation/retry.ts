/** Whether an action that has failed is tried again, and when. */
import type { ActionDefinition } from './definition-schema.ts';
import type { Outcome } from './event-schema.ts';

/** What the definition says of further attempts. Plans that were made by an earlier release say the number alone. */
export type RetryRules = Pick<ActionDefinition, 'retry' | 'retry_on' | 'backoff'>;

/** Returns how many further attempts an action has after an end like this. */
export function retriesAfter({ retry, retry_on = 'failure' }: RetryRules, outcome: Outcome): number {
  return retry_on === 'error' && outcome !== 'error' ? 0 : retry;
}

/** Returns when the next attempt may begin. */
export function retryAt({ backoff = 0 }: RetryRules, endedAt: Date): Date {
  return new Date(endedAt.getTime() + backoff * 1_000);
}

/** What waits to be tried again. */
export interface Retried {
  status: string;
  ready_at: Date | null;
}

/** Returns the instant until which a node rests that is to be tried again; null for a node that does not rest. */
export function restsUntil({ status, ready_at }: Retried, now: Date): Date | null {
  return status === 'error_retry' && ready_at !== null && ready_at > now ? ready_at : null;
}
