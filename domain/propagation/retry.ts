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

/** Returns what a node says that rests; null where it does not rest. */
export function restText(rules: RetryRules, endedAt: Date): string | null {
  return (rules.backoff ?? 0) === 0 ? null : `is tried again not before ${retryAt(rules, endedAt).toISOString()}`;
}
