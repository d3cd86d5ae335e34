import { failureWrite, isOpenQuestion, type MemberNow, type MemberWrite } from './member-writes.ts';

/** Whether Ansible itself failed: the last report of any member is a failure of this very session (cfs-flows 5.2, 8 rule 14). */
export function causedByAnsible(members: readonly Pick<MemberNow, 'last'>[], session: string): boolean {
  return members.some(({ last }) => last?.status === 'failed' && last.session_name === session);
}

/**
 * What the failure of `session` writes into the members. Nothing where Ansible caused it: its results are recorded, the others are
 * tried again. Else (clone, inventory ...) each member that is still pending for the same layers gets `failed` for the
 * first of them and one more error.
 */
export function afterFailure(members: readonly MemberNow[], session: string): MemberWrite[] {
  if (causedByAnsible(members, session)) return [];
  return members.filter(isOpenQuestion).map((member) => failureWrite(member, session));
}
