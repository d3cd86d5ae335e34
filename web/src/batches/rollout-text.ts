/** A rollout in words. */
import type { Rollout } from '../../../domain/batches/rollout-schema.ts';

/** Returns how far a rollout has come. */
export function shareText({ configured, components }: Pick<Rollout, 'configured' | 'components'>): string {
  const share = components === 0 ? '' : ` (${Math.floor((configured * 100) / components)} %)`;
  return `${configured} of ${components}${share}`;
}

/** Returns a policy in words. */
export function policyText(policy: Rollout['policy']): string {
  if (policy === null) return 'none: it is not current';
  const { max_at_once, canary, max_failed } = policy;
  const parts = [
    canary === undefined ? '' : `canary ${typeof canary === 'number' ? canary : JSON.stringify(canary)}`,
    max_at_once === undefined ? '' : `${max_at_once} at once`,
    max_failed === undefined ? '' : `stops above ${max_failed} failed`,
  ];
  return parts.filter((part) => part !== '').join(', ') || 'no limit';
}

/** Returns why a rollout cannot be stopped; null when it can. */
export function stopRefusal({ current, state }: Pick<Rollout, 'current' | 'state'>): string | null {
  if (!current || state === 'replaced') return 'It is not current';
  if (state === 'stopped') return 'It is stopped';
  return state === 'done' ? 'It is done' : null;
}

/** Returns why a rollout cannot go on; null when it can. */
export function resumeRefusal({ current, state }: Pick<Rollout, 'current' | 'state'>): string | null {
  if (!current || state === 'replaced') return 'It is not current';
  return state === 'stopped' ? null : 'It is not stopped';
}
