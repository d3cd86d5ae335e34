import type { Rollout } from '../../domain/batches/rollout-schema.ts';

/** A rollout policy for people; nothing when there is none. */
export function policyText(policy: Rollout['policy'] | undefined): string {
  if (policy === null || policy === undefined) return '';
  const { max_at_once, canary, max_failed } = policy;
  const parts = [
    canaryText(canary),
    max_at_once === undefined ? '' : `${max_at_once} at once`,
    max_failed === undefined ? '' : `stops above ${max_failed} failed`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function canaryText(canary: NonNullable<Rollout['policy']>['canary']): string {
  if (canary === undefined) return '';
  if (typeof canary === 'number') return `canary ${canary}`;
  const { count, ids, tags, group } = canary;
  const pairs = Object.entries(tags ?? {}).map(([key, value]) => `${key}=${value}`);
  const chosen = ids?.join(', ') ?? (group === undefined ? pairs.join(', ') : `group ${group}`);
  return `canary ${count ?? 'all'} of ${chosen}`;
}

/** The warning that a file without the policy removes it, so that what it held back goes. */
export function policyDropped(name: string, policy: NonNullable<Rollout['policy']>): string {
  return `warning: this removes the rollout policy of ${name} (${policyText(policy)}); put muster.rollout into the file to keep it`;
}
