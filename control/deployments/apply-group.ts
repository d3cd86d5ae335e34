/** Applies the resources of one app on one cluster, in install order, until all are done or the cluster is away. */
import type { AnswerClass } from '../../domain/deployments/answer-class.ts';
import { type Finding, formerHolder, foundBeforeApply, type LiveMetadata } from '../../domain/deployments/finding.ts';
import { manifestToApply } from '../../domain/deployments/manifest-cleaning.ts';
import { labelValue } from '../../domain/deployments/naming.ts';
import { objectPath, type ServedKind } from '../../domain/deployments/object-path.ts';
import type { MemberCluster } from '../../domain/deployments/ports.ts';
import { isDone } from '../../domain/deployments/resource-status.ts';
import {
  deleteWait,
  type GroupResource,
  isAdoptedBy,
  listGroupResources,
  noteAttempt,
  noteOutcome,
  type Outcome,
  type PhaseGroup,
} from '../../store/deployments/context-resources.ts';
import { askMember } from './ask-member.ts';
import {
  type Away,
  type GroupAnswer,
  type GroupDependencies,
  type GroupInput,
  goAway,
  groupOf,
  reachMember,
  ruleOfContext,
  stillWanted,
  waitForDeletion,
  wholeManifest,
} from './group-work.ts';

type Step =
  | { is: 'done' }
  | { is: 'unwanted' }
  | { is: 'refused' }
  | { is: 'being-deleted'; message: string }
  | ({ is: 'away' } & Away);

/** Does what is left of a group. It may be broken off anywhere and called again: each resource is noted before its first call. */
export async function applyGroup(
  deps: GroupDependencies,
  input: GroupInput,
  signal: AbortSignal,
): Promise<GroupAnswer> {
  const group = groupOf(input);
  const context = await stillWanted(deps.db, input);
  if (context === null) return { is: 'ended' };
  const resources = await listGroupResources(deps.db, group);
  // One that was refused ends the group; what comes behind it stays Pending.
  if (resources.some(({ status }) => status === 'Failed')) return { is: 'ended' };
  const open = resources.filter(({ status }) => !isDone(status));
  if (open.length === 0) return { is: 'ended' };
  const rule = ruleOfContext(context, deps);
  const reached = await reachMember(deps, group, rule);
  if (!('member' in reached)) return goAway(deps, input, group, rule, { ...reached, hasMoved: false });
  let hasMoved = false;
  for (const resource of open) {
    signal.throwIfAborted();
    if ((await stillWanted(deps.db, input)) === null) break;
    const step = await applyOne({ deps, group, member: reached.member, namespace: context.namespace }, resource);
    if (step.is === 'being-deleted') return waitForDeletion(deps, group, rule, step.message);
    if (step.is === 'away') return goAway(deps, input, group, rule, { ...step, hasMoved, counts: true });
    if (step.is === 'refused' || step.is === 'unwanted') break;
    hasMoved = true;
  }
  await deleteWait(deps.db, group);
  return { is: 'ended' };
}

interface Work {
  deps: GroupDependencies;
  group: PhaseGroup;
  member: MemberCluster;
  namespace: string;
}

/**
 * Applies one resource: find its kind, look whose the object is, note that an apply is sent, send it, note what came of it. Nothing is sent that
 * is not noted: a termination would not know of the object.
 */
async function applyOne(work: Work, resource: GroupResource): Promise<Step> {
  const { member } = work;
  const kind = await askMember(member, resource, 'read', () => member.findKind(resource));
  if (kind.said.is !== 'accepted') return notApplied(work, resource, kind.said);
  if (kind.found === null) return unknownKind(work, resource);
  const served: ServedKind = kind.found;
  const path = objectPath(resource, served, work.namespace);
  const live = await askMember(member, resource, 'read', () => member.readMetadata(path));
  if (live.said.is !== 'accepted' && live.said.is !== 'absent') return notApplied(work, resource, live.said);
  const found = foundBeforeApply(live.found, work.group.context);
  if (found === 'being-deleted') {
    return beingDeleted(work, resource, 'the former object is still being deleted');
  }
  const within = served.isNamespaced ? resource.namespace || work.namespace : null;
  const owner = await ownerOf(work, { resource, within }, live.found, found);
  if (!(await noteAttempt(work.deps.db, work.group, resource.key, owner))) return { is: 'unwanted' };
  const manifest = manifestToApply(
    await wholeManifest(work.deps, resource),
    labelValue(work.group.context, work.group.app),
    served.isNamespaced ? work.namespace : null,
  );
  const applied = await askMember(member, resource, 'apply', () => member.apply(path, manifest));
  if (applied.said.is !== 'accepted') return notApplied(work, resource, applied.said);
  await note(work, resource, { status: 'Applied', ...takenOver(owner.formerOwner), ...stateOf(applied.found) });
  return { is: 'done' };
}

interface Owner {
  finding: Finding;
  formerOwner: string | null;
}

/**
 * Returns whose the object was before the apply. A repeat that sees its own object keeps what was found first; an object that was made or removed
 * since then is judged anew. What another owner has adopted stays adopted: nobody deletes it.
 */
async function ownerOf(
  { deps, group }: Work,
  { resource, within }: { resource: GroupResource; within: string | null },
  live: LiveMetadata | null,
  { finding, formerOwner }: { finding: Finding; formerOwner?: string },
): Promise<Owner> {
  if (resource.attempted && live?.label === labelValue(group.context, group.app)) {
    return { finding: resource.finding ?? finding, formerOwner: resource.former_owner };
  }
  const holder = formerHolder(live, group);
  const isAdopted = holder !== null && (await isAdoptedBy(deps.db, { ...group, ...holder }, resource, within));
  return { finding: isAdopted ? 'adopted' : finding, formerOwner: formerOwner ?? null };
}

async function notApplied(work: Work, resource: GroupResource, said: AnswerClass): Promise<Step> {
  if (said.is === 'being-deleted') return beingDeleted(work, resource, said.message);
  if (said.is === 'unreachable') return { ...said, is: 'away' };
  if (said.is === 'absent') return unknownKind(work, resource);
  const { reason, message } =
    said.is === 'refused' ? said : { reason: 'Conflict', message: 'message' in said ? said.message : '' };
  await note(work, resource, { status: 'Failed', reason, message });
  return { is: 'refused' };
}

async function unknownKind(work: Work, resource: GroupResource): Promise<Step> {
  const { group, version, kind } = resource;
  const message = `the cluster serves no ${kind} in ${group === '' ? version : `${group}/${version}`}`;
  await note(work, resource, { status: 'Failed', reason: 'NotFound', message });
  return { is: 'refused' };
}

/** An apply would be accepted, and the object would vanish all the same. */
async function beingDeleted(work: Work, resource: GroupResource, message: string): Promise<Step> {
  const now = work.deps.clock();
  const since = resource.waits_since ?? now;
  const isOver = now.getTime() - since.getTime() >= work.deps.deletionWaitMs;
  await note(work, resource, {
    ...{ status: isOver ? 'Failed' : 'Retrying', reason: 'BeingDeleted', message },
    waitsSince: since,
  });
  return isOver ? { is: 'refused' } : { is: 'being-deleted', message };
}

async function note(
  { deps, group }: Work,
  { key }: GroupResource,
  outcome: Pick<Outcome, 'status'> & Partial<Outcome>,
): Promise<void> {
  await noteOutcome(deps.db, group, key, { reason: null, message: null, ...outcome }, deps.clock());
}

function takenOver(formerOwner: string | null) {
  return formerOwner === null ? {} : { reason: 'TakenOver', message: `it belonged to ${formerOwner}` };
}

function stateOf(live: LiveMetadata | null) {
  return live === null ? {} : { uid: live.uid, resourceVersion: live.resourceVersion };
}
