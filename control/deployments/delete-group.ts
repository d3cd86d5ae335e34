/** Takes the resources of one app off one cluster, in reversed order. An error on one of them does not stop the others. */
import type { AnswerClass } from '../../domain/deployments/answer-class.ts';
import { stepOfDelete } from '../../domain/deployments/finding.ts';
import { labelValue } from '../../domain/deployments/naming.ts';
import { objectPath } from '../../domain/deployments/object-path.ts';
import type { MemberCluster } from '../../domain/deployments/ports.ts';
import { isDone } from '../../domain/deployments/resource-status.ts';
import {
  type GroupResource,
  listGroupResources,
  noteRelease,
  type Outcome,
  type PhaseGroup,
} from '../../store/deployments/context-resources.ts';
import { deleteWait } from '../../store/deployments/context-waits.ts';
import { findHeir } from '../../store/deployments/object-owners.ts';
import { askMember } from './ask-member.ts';
import {
  type Away,
  type GroupAnswer,
  type GroupDependencies,
  type GroupInput,
  goAway,
  groupOf,
  leaveMember,
  reachMember,
  ruleOfContext,
  stillWanted,
  waitForCalls,
  waitForTurn,
} from './group-work.ts';
import { inTurn, type Order, orderOf } from './in-turn.ts';
import { lookAnew } from './look-anew.ts';
import { holdBack } from './order-apps.ts';
import { type OutcomeBatch, withOutcomes } from './outcome-batch.ts';

/** So often an object that changes under the deletion is read again. */
const ROUNDS = 5;
/** Objects that others put theirs into: they are left to who still has them. */
const SHARED: readonly { group: string; kind: string }[] = [
  { group: '', kind: 'Namespace' },
  { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' },
];

/** Does what is left of a group. It may be broken off anywhere and called again: what is not there any more counts as deleted. */
export async function deleteGroup(
  deps: GroupDependencies,
  input: GroupInput,
  signal: AbortSignal,
): Promise<GroupAnswer> {
  const group = groupOf(input);
  const context = await stillWanted(deps, input);
  if (context === null) return { is: 'ended' };
  const resources = await listGroupResources(deps.db, group);
  const open = resources.filter(({ status }) => !isDone(status)).reverse();
  if (open.length === 0) return { is: 'ended' };
  const rule = ruleOfContext(context, deps);
  const held = await holdBack(deps, context, group, rule, open);
  if (held !== null) return held;
  const calls = lastArrival(open);
  if (calls !== null && calls > deps.clock()) return await waitForCalls(deps, group, calls);
  const reached = await reachMember(deps, group, rule);
  if (!('member' in reached)) return goAway(deps, input, group, rule, { ...reached, hasMoved: false });
  if (input.hasPlace === false) return waitForTurn(group, rule);
  const work: Omit<Work, 'outcomes'> = { deps, group, member: reached.member, namespace: context.namespace };
  const { away, hasMoved } = await withOutcomes(deps, group, (outcomes) =>
    deleteEach({ ...work, outcomes }, input, open, orderOf('delete', resources, deps.beside), signal),
  );
  if (away !== null) return leaveMember(deps, input, group, rule, { ...away, hasMoved, early: reached.early });
  await deleteWait(deps.db, group);
  return { is: 'ended' };
}

/** Deletes the objects in their order, as long as that is wanted. Returns why the cluster is away; null: it is not. */
async function deleteEach(
  work: Work,
  input: GroupInput,
  open: readonly GroupResource[],
  order: Order,
  signal: AbortSignal,
): Promise<{ away: Away | null; hasMoved: boolean }> {
  const { deps } = work;
  let hasMoved = false;
  let isOver = false;
  const endOf = async (resource: GroupResource): Promise<Away | 'unwanted' | null> => {
    signal.throwIfAborted();
    if ((await stillWanted(deps, input)) === null) return 'unwanted';
    return await deleteOne(work, resource);
  };
  const ends = await inTurn<GroupResource, Away | 'unwanted'>(open, order, (resource) =>
    deps.turns.take(input.cluster, async () => {
      // The group may have ended while this resource waited for its turn.
      if (isOver) return null;
      const end = await endOf(resource).catch((error: unknown) => {
        isOver = true;
        throw error;
      });
      if (end === null) hasMoved = true;
      else isOver = true;
      return end;
    }),
  );
  const away = ends.includes('unwanted') ? undefined : ends.find((end) => end !== 'unwanted');
  return { away: away ?? null, hasMoved };
}

/**
 * Returns the time by which each apply that was sent has arrived, or never does; null: none is on its way. A worker that Temporal has given up may
 * still wait for its call.
 */
function lastArrival(resources: readonly GroupResource[]): Date | null {
  const times = resources.flatMap(({ call_until, stray_until }) => [call_until, stray_until]);
  return times.reduce((last, time) => (time !== null && (last === null || time > last) ? time : last), null);
}

interface Work {
  deps: GroupDependencies;
  group: PhaseGroup;
  member: MemberCluster;
  namespace: string;
  /** What is written a little later. */
  outcomes: OutcomeBatch;
}

/** Deletes one object if it is ours. Returns why the cluster is away; null when the resource is done. */
async function deleteOne(work: Work, resource: GroupResource): Promise<Away | null> {
  const { deps, group, member } = work;
  const kind = await askMember(member, resource, 'read', () => member.findKind(resource));
  if (kind.said.is === 'unreachable') return kind.said;
  // A kind that is not served any more has no objects.
  if (kind.said.is === 'absent' || (kind.said.is === 'accepted' && kind.found === null)) {
    return note(work, resource, { status: 'Deleted' });
  }
  if (kind.said.is !== 'accepted' || kind.found === null) return refuse(work, resource, kind.said);
  let path = objectPath(resource, kind.found, work.namespace);
  const isShared = SHARED.some((shared) => shared.group === resource.group && shared.kind === resource.kind);
  for (let round = 0; round < ROUNDS; round += 1) {
    const live = await askMember(member, resource, 'read', () => member.readMetadata(path));
    // A path that is not served is answered in plain text, or refused for want of permission.
    if (live.said.is === 'absent' || live.said.is === 'refused') {
      const now = await lookAnew(member, resource, work.namespace);
      if (now.said.is === 'unreachable') return now.said;
      if (now.said.is === 'absent') return note(work, resource, { status: 'Deleted' });
      if (now.path === null) return refuse(work, resource, live.said.is === 'refused' ? live.said : now.said);
      if (now.path !== path) {
        path = now.path;
        continue;
      }
    }
    if (live.said.is === 'unreachable') return live.said;
    if (live.said.is !== 'accepted' && live.said.is !== 'absent') return refuse(work, resource, live.said);
    const heir = isShared ? await findHeir(deps.db, group, resource) : null;
    const label = heir === null ? null : labelValue(heir.context, heir.app);
    const step = stepOfDelete(live.found, group, resource.finding, label);
    if (step.do === 'nothing') {
      // Its label may be off since a former try, of which nothing else is on record.
      const notOwned = resource.releasing ? 'Released' : 'NotOwned';
      return note(work, resource, { status: 'Deleted', reason: step.because === 'not-owned' ? notOwned : null });
    }
    if (step.do === 'release') await noteRelease(deps.db, group, resource.key);
    const { uid, resourceVersion } = step;
    const call = () =>
      step.do === 'delete'
        ? member.delete(path, { uid, resourceVersion })
        : member.relabel(path, { uid, resourceVersion }, step.label);
    const { said } = await askMember(member, resource, 'delete', call);
    if (said.is === 'unreachable') return said;
    if (said.is === 'accepted' || said.is === 'absent') {
      return note(work, resource, { status: 'Deleted', reason: step.do === 'release' ? 'Released' : null });
    }
    // It has changed since it was read, and may be another's by now.
    if (said.is !== 'changed') return refuse(work, resource, said);
  }
  return note(work, resource, {
    ...{ status: 'Failed', reason: 'Conflict', message: 'the object changes again and again' },
  });
}

async function refuse(work: Work, resource: GroupResource, said: AnswerClass): Promise<null> {
  const { reason, message } =
    said.is === 'refused' ? said : { reason: 'Conflict', message: 'message' in said ? said.message : '' };
  return await note(work, resource, { status: 'Failed', reason, message });
}

async function note(
  { outcomes }: Work,
  { key }: GroupResource,
  outcome: Pick<Outcome, 'status'> & Partial<Outcome>,
): Promise<null> {
  await outcomes.add(key, { reason: null, message: null, ...outcome });
  return null;
}
