/** What the work of one app on one cluster stands on: its rows, its cluster, and what is written of it. */
import { cleanText } from '../../domain/deployments/answer-class.ts';
import type { Phase } from '../../domain/deployments/context-state.ts';
import { type Members, membersOf } from '../../domain/deployments/members.ts';
import { parseClusterName } from '../../domain/deployments/naming.ts';
import type { MemberCluster, MemberClusters, ReadKubeconfig } from '../../domain/deployments/ports.ts';
import { isExhausted, leftOf, type RetryRule, waitSeconds } from '../../domain/deployments/retry.ts';
import { ruleOf } from '../../domain/deployments/retry-rule.ts';
import { isMusterError, musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { findCluster, findKubeconfig } from '../../store/deployments/clusters.ts';
import { type GroupResource, noteOpen, type PhaseGroup } from '../../store/deployments/context-resources.ts';
import { deleteWait, findWait, putWait, type Wait } from '../../store/deployments/context-waits.ts';
import type { ContextRow } from '../../store/deployments/contexts.ts';
import type { Seal } from '../sealing/seal.ts';
import { placeOf } from './cluster-seal.ts';
import type { ClusterTurns } from './cluster-turns.ts';

export interface GroupDependencies {
  db: Db;
  /** Returns an AppContext as it is then or later; null when it is gone. */
  readContext(id: string): Promise<ContextRow | null>;
  clusterSeal: Seal;
  /** Of values of Secrets. */
  manifestSeal: Seal;
  readKubeconfig: ReadKubeconfig;
  memberClusters: MemberClusters;
  /** Of the installation; a deployment may say otherwise. */
  retry: RetryRule;
  /** Bounds the requests in flight at each cluster. */
  turns: ClusterTurns;
  /** Resources of one app on one cluster that are done at once, where the app says what they wait for. */
  beside: number;
  /** How long an object may be seen being deleted before its apply is given up, ms. */
  deletionWaitMs: number;
  /** Time limit of each call to a cluster, ms. */
  callMs: number;
  clock(): Date;
}

export interface GroupInput {
  context: string;
  phase: Phase;
  cluster: string;
  app: string;
  waits: number;
  /** False: the cluster holds no place among those at work, so nothing is done there; it is only asked whether it is back. */
  hasPlace?: boolean | undefined;
}

/** `ended`: nothing is left to do in this phase. `away`: again after a wait, or when the cluster is heard of. */
export type GroupAnswer =
  | { is: 'ended' }
  | {
      is: 'away';
      waitMs: number;
      reason: string;
      message: string;
      hasMoved: boolean;
      counts: boolean;
      /** The cluster answers, and waits for a place among those at work. */
      isBack?: true;
    };

/** Why a group stops for now. */
export interface Away {
  reason: string;
  message: string;
  retryAfter: number | null;
}

/** Returns the key of a group. Throws `bad_data` for a text that is no cluster. */
export function groupOf({ context, cluster, app, phase }: GroupInput): PhaseGroup {
  const ref = parseClusterName(cluster);
  if (ref === null) throw musterError('bad_data', `'${cluster.slice(0, 100)}' is no cluster`);
  return { context, app, phase, ...ref };
}

/** Returns the AppContext while its phase is to go on; null when it is stopped, or something else is wanted. */
export async function stillWanted(
  { readContext }: Pick<GroupDependencies, 'readContext'>,
  { context, phase }: GroupInput,
): Promise<ContextRow | null> {
  const row = await readContext(context);
  if (row === null || row.is_stopped || row.wanted !== phase) return null;
  return row;
}

export interface Reached {
  member: MemberCluster;
  /** The wait that was broken off because the cluster was heard of; null: none was. */
  early: Wait | null;
}

/** Returns the cluster, or why it cannot be worked with now. The credential is read anew each time: it may have been replaced. */
export async function reachMember(
  deps: GroupDependencies,
  group: PhaseGroup,
  rule: RetryRule,
): Promise<Reached | (Away & { counts: boolean })> {
  let isHeard = false;
  let early: Wait | null = null;
  const wait = await findWait(deps.db, group);
  if (wait !== null) {
    const now = deps.clock();
    const pause = wait.notBefore.getTime() - now.getTime();
    if (pause > 0) return { ...TOLD_TO_WAIT, retryAfter: pause / 1000, counts: false };
    const probed = await findCluster(deps.db, group);
    // What the prober heard since the wait began counts here too: the cluster is not asked by each group that waits.
    const isNew = probed !== null && (probed.probed_at?.getTime() ?? 0) > wait.since.getTime();
    isHeard = isNew && probed.is_answering;
    const why = { reason: probed?.reason ?? 'Unreachable', message: probed?.message ?? '' };
    const left = leftOf(wait, now);
    if (left > EARLY_MS) early = wait;
    // Woken for another reason: a wait that is not over is no retry.
    if (!isHeard && early !== null) return { ...why, retryAfter: left / 1000, counts: false };
    if (isNew && !isHeard) return { ...why, ...AGAIN };
  }
  const stored = await findKubeconfig(deps.db, group);
  if (stored === null) return { reason: 'NotFound', message: 'the cluster is not registered', ...AGAIN };
  try {
    const file = await deps.clusterSeal.open(stored.kubeconfig, placeOf(group));
    const { credential } = await deps.readKubeconfig(file);
    if (!isHeard) {
      const said = await deps.memberClusters.readVersion(credential, rule.firstSeconds * 1000, HEARD_MS);
      if ('noAnswer' in said) {
        const reason = said.noAnswer === 'address' ? 'AddressNotAllowed' : 'Unreachable';
        return { reason, message: cleanText(said.message), ...AGAIN };
      }
      if ('refused' in said) return { reason: said.refused, message: said.message, ...AGAIN };
    }
    return { member: deps.memberClusters.openMember(credential), early };
  } catch (error) {
    if (!isMusterError(error)) throw error;
    const reason = error.code === 'cluster_address_not_allowed' ? 'AddressNotAllowed' : 'CredentialUnreadable';
    return { reason, message: error.detail, ...AGAIN };
  }
}

/** A cluster that has answered so long ago is there, ms: groups of one cluster begin together. */
const HEARD_MS = 2_000;
/** A timer may fire so much before its time by the clock of this machine, ms. */
const EARLY_MS = 100;
const AGAIN = { retryAfter: null, counts: true } as const;
const TOLD_TO_WAIT = { reason: 'TooManyRequests', message: 'the cluster asked for a pause' } as const;

/** Puts a group on record as waiting; or gives it up where its retries are used up. */
export async function goAway(
  deps: GroupDependencies,
  input: GroupInput,
  group: PhaseGroup,
  rule: RetryRule,
  { reason, message, retryAfter, hasMoved, counts }: Away & { hasMoved: boolean; counts: boolean },
): Promise<GroupAnswer> {
  const now = deps.clock();
  const passed = hasMoved ? 0 : input.waits;
  if (counts && isExhausted(rule, passed)) {
    const text = `${reason}: ${message}`.slice(0, 1024);
    await noteOpen(deps.db, group, { status: 'Failed', reason: 'RetriesExceeded', message: text }, now);
    await deleteWait(deps.db, group);
    return { is: 'ended' };
  }
  const ms = waitSeconds(rule, passed + 1) * 1000;
  const pause = (retryAfter ?? 0) * 1000;
  if (counts) {
    await noteOpen(deps.db, group, { status: 'Retrying', reason, message }, now);
    const notBefore = new Date(now.getTime() + pause);
    await putWait(deps.db, group, { since: now, notBefore, retryMs: ms });
  }
  return { is: 'away', waitMs: counts ? Math.max(ms, pause) : pause, reason, message, hasMoved, counts };
}

/**
 * Puts a group on record that was let go by its cluster in the middle of its work. A cluster that answers the prober and no call would use up the
 * retries of a group as fast as any other group asks for: what is left of the group's own wait is waited for, and it counts once.
 */
export async function leaveMember(
  deps: GroupDependencies,
  input: GroupInput,
  group: PhaseGroup,
  rule: RetryRule,
  { early, ...away }: Away & { hasMoved: boolean; early: Wait | null },
): Promise<GroupAnswer> {
  const { reason, message, retryAfter, hasMoved } = away;
  if (early === null || hasMoved) return goAway(deps, input, group, rule, { ...away, counts: true });
  const now = deps.clock();
  const pause = (retryAfter ?? 0) * 1000;
  await noteOpen(deps.db, group, { status: 'Retrying', reason, message }, now);
  await putWait(deps.db, group, { ...early, notBefore: new Date(now.getTime() + pause) });
  return { is: 'away', waitMs: Math.max(leftOf(early, now), pause), reason, message, hasMoved, counts: false };
}

/** Puts a group on record as waiting for an object that is still being deleted. It has a limit of its own. */
export async function waitForDeletion(
  deps: GroupDependencies,
  group: PhaseGroup,
  rule: RetryRule,
  message: string,
): Promise<GroupAnswer> {
  const now = deps.clock();
  const waitMs = rule.firstSeconds * 1000;
  await putWait(deps.db, group, { since: now, notBefore: now, retryMs: waitMs });
  return { is: 'away', waitMs, reason: 'BeingDeleted', message, hasMoved: true, counts: false };
}

/** Time between two looks whether a cluster serves a new kind, ms. */
const SERVED_MS = 500;

/** Returns that a group waits until its cluster serves a kind that was defined a moment ago. */
export function waitForKind(message: string): GroupAnswer {
  return { is: 'away', waitMs: SERVED_MS, reason: 'Waiting', message, hasMoved: true, counts: false };
}

/** Returns that a cluster is back and waits for its turn: others are at work. */
export function waitForTurn({ provider, cluster }: PhaseGroup, rule: RetryRule): GroupAnswer {
  const message = `${provider}+${cluster} answers, and waits for its turn`;
  const waitMs = rule.maxSeconds * 1000;
  return { is: 'away', waitMs, reason: 'Waiting', message, hasMoved: false, counts: false, isBack: true };
}

/** Puts a group on record as waiting for an apply that may still arrive: what it makes would be left behind. */
export async function waitForCalls(deps: GroupDependencies, group: PhaseGroup, until: Date): Promise<GroupAnswer> {
  const now = deps.clock();
  const message = `an apply that was sent before may still arrive until ${until.toISOString()}`;
  await noteOpen(deps.db, group, { status: 'Pending', reason: 'Waiting', message }, now);
  const waitMs = until.getTime() - now.getTime();
  return { is: 'away', waitMs, reason: 'Waiting', message, hasMoved: false, counts: false };
}

/** Returns the rule of retries of an AppContext. */
export function ruleOfContext({ settings }: ContextRow, deps: Pick<GroupDependencies, 'retry'>): RetryRule {
  return ruleOf(settings, deps.retry);
}

/** Returns a manifest with the values of its Secret. Throws `secret_unreadable`. */
export async function wholeManifest(
  deps: Pick<GroupDependencies, 'manifestSeal'>,
  resource: GroupResource,
): Promise<Members> {
  const manifest = membersOf(JSON.parse(resource.manifest));
  if (resource.sealed === null || resource.seal_id === null) return manifest;
  const values = await deps.manifestSeal.open(resource.sealed, `manifest ${resource.seal_id}`);
  return { ...manifest, ...membersOf(JSON.parse(values.toString('utf8'))) };
}
