import { failureWrite, isOpenQuestion, type MemberNow, type MemberWrite, pendingEntries } from './member-writes.ts';

/**
 * What the success of `session` writes into one member, or null: a host that no playbook touched gets `skipped` for every layer
 * that is still pending, without an error (cfs-flows 5.2). Nothing is said about one that booted meanwhile. One that the
 * inventory did not have was not configured: it gets the failure entry.
 */
export function afterSuccess(member: MemberNow, session: string): MemberWrite | null {
  if (!isOpenQuestion(member) || member.rebooted) return null;
  if (member.absent) return failureWrite(member, session);
  return { id: member.id, entries: pendingEntries(member, 'skipped', session), errors: 0 };
}
