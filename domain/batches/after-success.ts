import {
  type EndedSession,
  failureWrite,
  isOpenQuestion,
  type MemberNow,
  type MemberWrite,
  pendingEntries,
} from './member-writes.ts';

/**
 * What the success of a session writes into one member, or null: a host that no playbook touched gets `skipped` for every layer
 * of the session that is still pending, without an error (cfs-flows 5.2). Nothing is said about a layer that was not in the session,
 * nor about one that it recorded for this host: that is pending because somebody ordered it again, or because it failed. Nor is
 * anything said about a host that booted meanwhile. One that the inventory did not have was not configured: it gets the failure entry.
 */
export function afterSuccess(member: MemberNow, session: EndedSession): MemberWrite | null {
  if (!isOpenQuestion(member) || member.rebooted) return null;
  if (member.absent) return failureWrite(member, session);
  const recorded = new Set(session.results.get(member.id)?.map(({ layer }) => layer));
  const entries = pendingEntries(member, 'skipped', session, (index) => !recorded.has(index));
  return entries.length === 0 ? null : { id: member.id, entries, errors: 0 };
}
