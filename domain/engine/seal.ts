/**
 * What is added to everything that is said through the engine, so that it can be known as ours. The bundle of the workflows has
 * this file in it: it needs nothing but the language.
 */

/** Metadata of a payload on its way: the MAC over all payloads of its list and over what they are for. */
export const MAC_FIELD = 'muster-mac';
/** Metadata of a payload that has arrived, set by who checked it; whatever came with it under these names is overwritten. */
export const CHECKED_FIELD = 'muster-checked';
export const REQUIRED_SINCE_FIELD = 'muster-required-since';

/** `ours`: its MAC is valid; `unsigned`: it has none, as of a release that signed nothing; `wrong`: it has another one. */
export type Checked = 'ours' | 'unsigned' | 'wrong';

/** Code of the failure of what is refused. */
export const REFUSED = 'payload_refused';

/**
 * The last argument of every start, message and piece of work: what it is for. So a message without argument has a payload, which
 * is signed, and an argument that was signed for another purpose is refused.
 */
export interface Seal {
  sealed_for: string;
}

export type Purpose = 'workflow' | 'schedule' | 'signal' | 'update' | 'activity';

export const sealFor = (purpose: Purpose, name: string): Seal => ({ sealed_for: `${purpose} ${name}` });

/** The arguments without the seal, and what that says; null where there is none. */
export function unseal(args: readonly unknown[]): { args: unknown[]; sealedFor: string | null } {
  const last = args.at(-1);
  if (!isSeal(last)) return { args: [...args], sealedFor: null };
  return { args: args.slice(0, -1), sealedFor: last.sealed_for };
}

function isSeal(value: unknown): value is Seal {
  if (typeof value !== 'object' || value === null) return false;
  const [first, ...others] = Object.entries(value);
  return others.length === 0 && first?.[0] === 'sealed_for' && typeof first[1] === 'string';
}

/** Whether what has no MAC counts: of the time before MACs are required. `requiredSince` null: they are not yet. */
export function unsignedCounts(since: Date, requiredSince: Date | null): boolean {
  return requiredSince === null || since.getTime() < requiredSince.getTime();
}

/** Id of the schedule's own start in the id of a workflow that it has started: the engine adds the time. */
export function withoutScheduledTime(workflowId: string): string {
  return workflowId.replace(/-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, '');
}

/** What of a failure is signed with it: all that anything is decided by. */
export interface SealedFailure {
  message: string;
  type: string;
  non_retryable: boolean;
}

export function isSealedFailure(value: unknown, failure: SealedFailure): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { message, type, non_retryable } = value as Partial<SealedFailure>;
  return message === failure.message && type === failure.type && non_retryable === failure.non_retryable;
}
