/** Applies the resources of one app on one cluster, in install order, until all are done or the cluster is away. */
import type { AnswerClass } from '../../domain/deployments/answer-class.ts';
import { foundBeforeApply, type LiveMetadata } from '../../domain/deployments/finding.ts';
import { manifestToApply } from '../../domain/deployments/manifest-cleaning.ts';
import type { Members } from '../../domain/deployments/members.ts';
import { labelValue } from '../../domain/deployments/naming.ts';
import { type AppliedDefinition, isComing, isDefinedHere, isDefinition } from '../../domain/deployments/new-kinds.ts';
import { objectPath, type ServedKind } from '../../domain/deployments/object-path.ts';
import type { Asked, MemberCluster } from '../../domain/deployments/ports.ts';
import { isDone } from '../../domain/deployments/resource-status.ts';
import { isMusterError } from '../../domain/errors.ts';
import {
  type GroupResource,
  listGroupResources,
  noteAttempt,
  noteCallEnded,
  noteFirstApply,
  type Outcome,
  type PhaseGroup,
} from '../../store/deployments/context-resources.ts';
import { deleteWait } from '../../store/deployments/context-waits.ts';
import { askMember, type Told } from './ask-member.ts';
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
  waitForDeletion,
  waitForKind,
  waitForTurn,
  wholeManifest,
} from './group-work.ts';
import { inTurn, type Order, orderOf } from './in-turn.ts';
import { lookAnew } from './look-anew.ts';
import { type Owner, ownerOf } from './object-owner.ts';
import { holdBack } from './order-apps.ts';
import { type OutcomeBatch, withOutcomes } from './outcome-batch.ts';

type Step =
  | { is: 'done' }
  | { is: 'unwanted' }
  | { is: 'refused' }
  | { is: 'being-deleted'; message: string }
  | { is: 'not-served'; message: string }
  | ({ is: 'away' } & Away);

/** Does what is left of a group. It may be broken off anywhere and called again: each resource is noted before its first call. */
export async function applyGroup(
  deps: GroupDependencies,
  input: GroupInput,
  signal: AbortSignal,
): Promise<GroupAnswer> {
  const group = groupOf(input);
  const context = await stillWanted(deps, input);
  if (context === null) return { is: 'ended' };
  const resources = await listGroupResources(deps.db, group);
  // One that was refused ends the group; what comes behind it stays Pending.
  if (resources.some(({ status }) => status === 'Failed')) return { is: 'ended' };
  const open = resources.filter(({ status }) => !isDone(status));
  if (open.length === 0) return { is: 'ended' };
  const rule = ruleOfContext(context, deps);
  const held = await holdBack(deps, context, group, rule, open);
  if (held !== null) return held;
  const reached = await reachMember(deps, group, rule);
  if (!('member' in reached)) return goAway(deps, input, group, rule, { ...reached, hasMoved: false });
  if (input.hasPlace === false) return waitForTurn(group, rule);
  const { member } = reached;
  const definitions = resources
    .filter((resource) => isDefinition(resource) && resource.status === 'Applied')
    .map(({ name, changed_at }) => ({ name, at: changed_at }));
  const work: Omit<Work, 'outcomes'> = { deps, group, member, namespace: context.namespace, definitions };
  await noteFirstApply(deps.db, group, deps.clock());
  const { step, hasMoved } = await withOutcomes(deps, group, (outcomes) =>
    applyEach({ ...work, outcomes }, input.cluster, open, orderOf('apply', resources, deps.beside), signal),
  );
  if (step.is === 'being-deleted') return waitForDeletion(deps, group, rule, step.message);
  if (step.is === 'not-served') return waitForKind(step.message);
  if (step.is === 'away') return leaveMember(deps, input, group, rule, { ...step, hasMoved, early: reached.early });
  await deleteWait(deps.db, group);
  return { is: 'ended' };
}

/** Applies the resources in their order. Returns the step that ended the work. */
async function applyEach(
  work: Work,
  cluster: string,
  open: readonly GroupResource[],
  order: Order,
  signal: AbortSignal,
): Promise<{ step: Step; hasMoved: boolean }> {
  let hasMoved = false;
  let isOver = false;
  const steps = await inTurn<GroupResource, Step>(open, order, async (resource) => {
    // The turn comes before the attempt is noted: what is noted is sent at once. Nothing is sent that is not wanted any more.
    const step = await work.deps.turns.take(cluster, async () => {
      // The group may have ended while this resource waited for its turn.
      if (isOver) return null;
      signal.throwIfAborted();
      const said = await applyOne(work, resource).catch((error: unknown) => {
        isOver = true;
        throw error;
      });
      if (said.is !== 'done') isOver = true;
      return said;
    });
    if (step === null || step.is !== 'done') return step;
    if (isDefinition(resource)) work.definitions.push({ name: resource.name, at: work.deps.clock() });
    hasMoved = true;
    return null;
  });
  // A refusal ends the group, whatever others beside it wait for.
  const step = steps.find(({ is }) => is === 'refused' || is === 'unwanted') ?? steps[0] ?? { is: 'done' };
  return { step, hasMoved };
}

interface Work {
  deps: GroupDependencies;
  group: PhaseGroup;
  member: MemberCluster;
  namespace: string;
  /** Those of this group that are applied. */
  definitions: AppliedDefinition[];
  /** What is written a little later. */
  outcomes: OutcomeBatch;
}

/** Reasons of a refusal that a path may have which the cluster does not serve: in plain text, or for want of permission. */
const MAY_BE_ELSEWHERE = ['NotFound', 'NotKubernetes', 'Forbidden'];

/**
 * Applies one resource: find its kind, look whose the object is, note that an apply is sent, send it, note what came of it. Nothing is sent that
 * is not noted: a termination would not know of the object.
 * @param mayMove whether its path may still turn out to be another one: once is enough
 */
async function applyOne(work: Work, resource: GroupResource, mayMove = true): Promise<Step> {
  const { member } = work;
  const isAnew = isDefinedHere(work.definitions, resource.group);
  const kind = await askMember(member, resource, 'read', () => member.findKind(resource, { isAnew }));
  const isUnknown = kind.said.is === 'absent' || (kind.said.is === 'accepted' && kind.found === null);
  if (isUnknown || kind.found === null) return notApplied(work, resource, isUnknown ? { is: 'absent' } : kind.said);
  const served: ServedKind = kind.found;
  const path = objectPath(resource, served, work.namespace);
  const live = await askMember(member, resource, 'read', () => member.readMetadata(path));
  if (live.said.is === 'refused' && mayMove) {
    const now = await lookAnew(member, resource, work.namespace);
    if (now.said.is === 'absent' || now.said.is === 'unreachable') return notApplied(work, resource, now.said);
    if (now.path !== null && now.path !== path) return applyOne(work, resource, false);
  }
  if (live.said.is !== 'accepted' && live.said.is !== 'absent') return notApplied(work, resource, live.said);
  const found = foundBeforeApply(live.found, work.group.context);
  if (found === 'being-deleted') {
    return beingDeleted(work, resource, 'the former object is still being deleted');
  }
  const within = served.isNamespaced ? resource.namespace || work.namespace : null;
  const owner = {
    ...(await ownerOf(work.deps.db, work.group, { resource, within }, live.found, found)),
    within: within ?? '',
  };
  const manifest = await manifestOf(work, resource, served);
  if ('is' in manifest) return manifest;
  const applied = await send(work, resource, owner, () => member.apply(path, manifest.manifest));
  if (applied === null) return { is: 'unwanted' };
  const { said, found: made, until } = applied;
  const endedAt = applied.hasEnded ? until : null;
  if (said.is === 'refused' && MAY_BE_ELSEWHERE.includes(said.reason) && mayMove) {
    const now = await lookAnew(member, resource, work.namespace);
    if (now.said.is === 'absent' || now.said.is === 'unreachable') return notApplied(work, resource, now.said, endedAt);
    if (now.path !== null && now.path !== path) {
      if (endedAt !== null) await noteCallEnded(work.deps.db, work.group, resource.key, endedAt);
      return applyOne(work, resource, false);
    }
  }
  if (said.is !== 'accepted') return notApplied(work, resource, said, endedAt);
  const outcome = { status: 'Applied', ...takenOver(owner.formerOwner), ...stateOf(made) } as const;
  await note(work, resource, outcome, until);
  return { is: 'done' };
}

/** Time beyond the limit of a call in which it may still arrive at its cluster; clocks of workers differ by less, ms. */
const LATE_MS = 5_000;

/** Notes that an apply is sent, and until when it may arrive; then sends it. Returns null when it is not wanted any more. */
async function send(
  { deps, group, member }: Work,
  resource: GroupResource,
  owner: Owner & { within: string },
  apply: () => Promise<Asked<LiveMetadata>>,
): Promise<(Told<LiveMetadata> & { until: Date }) | null> {
  let until: Date | null = null;
  const announce = async () => {
    const next = new Date(deps.clock().getTime() + deps.callMs + LATE_MS);
    if (!(await noteAttempt(deps.db, group, resource.key, { ...owner, until: next, ended: until }))) return false;
    until = next;
    // Sent now it could arrive behind its time.
    if (deps.clock().getTime() > next.getTime() - deps.callMs)
      throw new Error('the database was too slow for an apply');
    return true;
  };
  if (!(await announce())) return null;
  const told = await askMember(member, resource, 'apply', apply, announce);
  return { ...told, until: until ?? deps.clock() };
}

/** Returns what is sent; or that the group waits, where the values of a Secret cannot be read now. */
async function manifestOf(
  { deps, group, namespace }: Work,
  resource: GroupResource,
  { isNamespaced }: ServedKind,
): Promise<{ manifest: Members } | Extract<Step, { is: 'away' }>> {
  try {
    const whole = await wholeManifest(deps, resource);
    const label = labelValue(group.context, group.app);
    return { manifest: manifestToApply(whole, label, isNamespaced ? namespace : null) };
  } catch (error) {
    if (!isMusterError(error)) throw error;
    return { is: 'away', reason: 'SecretUnreadable', message: error.detail, retryAfter: null };
  }
}

/** `until`: time of the apply that has had this answer; null: none was sent, or it may still be carried out. */
async function notApplied(
  work: Work,
  resource: GroupResource,
  said: AnswerClass,
  until: Date | null = null,
): Promise<Step> {
  if (said.is === 'unreachable') {
    if (until !== null) await noteCallEnded(work.deps.db, work.group, resource.key, until);
    return { ...said, is: 'away' };
  }
  if (said.is === 'being-deleted') return beingDeleted(work, resource, said.message, until);
  if (said.is === 'absent') {
    const isAwaited = isComing(work.definitions, resource.group, work.deps.clock());
    return isAwaited ? notServed(work, resource, until) : unknownKind(work, resource, until);
  }
  const { reason, message } =
    said.is === 'refused' ? said : { reason: 'Conflict', message: 'message' in said ? said.message : '' };
  await note(work, resource, { status: 'Failed', reason, message }, until);
  return { is: 'refused' };
}

/** A definition of its group was applied a moment ago. */
async function notServed(work: Work, resource: GroupResource, until: Date | null): Promise<Step> {
  const message = `waits until the cluster serves ${resource.kind} in ${resource.group}`;
  await note(work, resource, { status: resource.status, reason: 'Waiting', message }, until);
  return { is: 'not-served', message };
}

async function unknownKind(work: Work, resource: GroupResource, until: Date | null): Promise<Step> {
  const { group, version, kind } = resource;
  const message = `the cluster serves no ${kind} in ${group === '' ? version : `${group}/${version}`}`;
  await note(work, resource, { status: 'Failed', reason: 'NotFound', message }, until);
  return { is: 'refused' };
}

/** An apply would be accepted, and the object would vanish all the same. */
async function beingDeleted(
  work: Work,
  resource: GroupResource,
  message: string,
  until: Date | null = null,
): Promise<Step> {
  const now = work.deps.clock();
  const since = resource.waits_since ?? now;
  const isOver = now.getTime() - since.getTime() >= work.deps.deletionWaitMs;
  const status = isOver ? 'Failed' : 'Retrying';
  await note(work, resource, { status, reason: 'BeingDeleted', message, waitsSince: since }, until);
  return isOver ? { is: 'refused' } : { is: 'being-deleted', message };
}

/** Takes an outcome, and that the apply `until` has had its answer. */
async function note(
  { outcomes }: Work,
  { key }: GroupResource,
  outcome: Pick<Outcome, 'status'> & Partial<Outcome>,
  until: Date | null,
): Promise<void> {
  const answered = until === null ? {} : { answered: until };
  await outcomes.add(key, { reason: null, message: null, ...outcome, ...answered });
}

function takenOver(formerOwner: string | null) {
  return formerOwner === null ? {} : { reason: 'TakenOver', message: `it belonged to ${formerOwner}` };
}

function stateOf(live: LiveMetadata | null) {
  return live === null ? {} : { uid: live.uid, resourceVersion: live.resourceVersion };
}
