import type { MemberNow } from './member-writes.ts';

/**
 * What a session was for a component of a rollout, as it is after the session's end: `done` when it is configured; `failed` when its
 * last report is a failure of this session; null when the session says nothing about it (the playbook never came to it, it booted
 * meanwhile, it desires something else), as if it had not been sent.
 */
export function outcomeOf(
  { status, last, desiredChanged, rebooted }: Pick<MemberNow, 'status' | 'last' | 'desiredChanged' | 'rebooted'>,
  session: string,
): 'done' | 'failed' | null {
  if (desiredChanged) return null;
  if (status === 'configured') return 'done';
  return !rebooted && last?.status === 'failed' && last.session_name === session ? 'failed' : null;
}
