import { type EndedSession, failureWrite, isOpenQuestion, type MemberNow, type MemberWrite } from './member-writes.ts';

/**
 * Whether Ansible itself failed (cfs-flows 5.2, 8.14). What the session recorded says so, also of a component that booted or
 * was cleared since then: a machine that goes away takes its own report with it. A runner that reports by itself leaves only
 * the members' last entries: a failure of this very session, or what stands for its report on one that booted meanwhile.
 */
function causedByAnsible(
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
 * What the failure of a session writes into the members. Where Ansible caused it, its results are recorded and the others are
 * tried again; only those that the inventory did not have as hosts, and those that a broken-off run left unfinished, get `failed` for the
 * first of their pending layers and one more error, since it would be so again. Else (clone, inventory ...) each member that is still pending for the same layers gets them. One that no task
 * reached is left alone, unless that is all members: then nothing would ever end the repetition. One that booted meanwhile gets nothing: what
 * was reached before is gone, and so is this.
 */
export function afterFailure(members: readonly MemberNow[], session: EndedSession): MemberWrite[] {
  const open = members.filter((member) => isOpenQuestion(member) && !member.rebooted);
  const writes = (some: readonly MemberNow[]) => some.flatMap((member) => failureWrite(member, session) ?? []);
  if (causedByAnsible(members, session))
    return writes(open.filter(({ id, absent }) => absent || wasLeftUnfinished(id, session)));
  const reached = open.filter(({ id, absent }) => absent || !session.notReached?.has(id));
  return writes(reached.length === 0 ? open : reached);
}

/** Whether a broken-off run has begun with the host and failed on none of its tasks: that is no error of the host yet. */
function wasLeftUnfinished(id: string, { results }: EndedSession): boolean {
  const ofHost = results.get(id) ?? [];
  return (
    ofHost.some(({ status, brokeOff }) => brokeOff && status === 'incomplete') &&
    !ofHost.some(({ status }) => status === 'failed')
  );
}
