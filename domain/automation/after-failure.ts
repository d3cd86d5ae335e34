import { type EndedSession, failureWrite, isOpenQuestion, type MemberNow, type MemberWrite } from './member-writes.ts';

/**
 * Whether Ansible itself failed (cfs-flows 5.2, 8 rule 14). What the session recorded says so, also of a component that booted or
 * was cleared since then: a machine that goes away takes its own report with it. A runner that reports by itself leaves only
 * the members' last entries: a failure of this very session, or what stands for its report on one that booted meanwhile.
 */
export function causedByAnsible(
  members: readonly Pick<MemberNow, 'last' | 'rebooted'>[],
  { name, results }: Pick<EndedSession, 'name' | 'results'>,
): boolean {
  for (const ofHost of results.values()) if (ofHost.some(({ status }) => status === 'failed')) return true;
  return members.some(
    ({ last, rebooted }) =>
      last?.session_name === name && (last.status === 'failed' || (rebooted && last.status === 'incomplete')),
  );
}

/**
 * What the failure of a session writes into the members. Nothing where Ansible caused it: its results are recorded, the others are
 * tried again. Else (clone, inventory ...) each member that is still pending for the same layers gets `failed` for the
 * first of them and one more error. One that booted meanwhile gets nothing: what was reached before is gone, and so is this.
 */
export function afterFailure(members: readonly MemberNow[], session: EndedSession): MemberWrite[] {
  if (causedByAnsible(members, session)) return [];
  return members
    .filter((member) => isOpenQuestion(member) && !member.rebooted)
    .flatMap((member) => failureWrite(member, session) ?? []);
}
