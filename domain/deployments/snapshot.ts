/** What is watched in a member cluster, and what is kept and shown of an object that is seen there. */
import { idOf, type LiveResource } from './cluster-status.ts';
import { withoutLastApplied, withoutSecretValues } from './manifest-cleaning.ts';
import type { Identity } from './manifest-identity.ts';
import { at, hasMembers, listAt, type Members, membersOf, textAt } from './members.ts';
import { DEPLOYMENT_LABEL, parseLabelValue } from './naming.ts';

export interface WatchedKind {
  group: string;
  version: string;
  kind: string;
}

/** A kind that AppContexts bring to a cluster. */
export interface AppliedKind extends WatchedKind {
  /** Last first apply of a group with that kind; null: nothing was applied yet. */
  appliedAt: Date | null;
}

const POD = { group: '', version: 'v1', kind: 'Pod' };
const JOB = { group: 'batch', version: 'v1', kind: 'Job' };
const CRON_JOB = { group: 'batch', kind: 'CronJob' };

/** Kinds whose data never leave their cluster. */
const METADATA_ONLY: readonly string[] = ['/Secret', '/ConfigMap'];

/** Returns each kind that is watched, once: those of the AppContexts, and Pods and Jobs, which come of any of them. */
export function watchedKinds(applied: readonly AppliedKind[]): AppliedKind[] {
  const last = latest(applied.map(({ appliedAt }) => appliedAt));
  const kinds = new Map<string, AppliedKind>();
  for (const each of [...applied, { ...POD, appliedAt: last }, { ...JOB, appliedAt: last }]) {
    const key = `${each.group}/${each.kind}`;
    const known = kinds.get(key);
    if (known === undefined) kinds.set(key, each);
    else kinds.set(key, { ...known, appliedAt: latest([known.appliedAt, each.appliedAt]) });
  }
  return [...kinds.values()];
}

/** Whether only the metadata of a kind are asked for. */
export function isMetadataOnly({ group, kind }: Pick<WatchedKind, 'group' | 'kind'>): boolean {
  return METADATA_ONLY.includes(`${group}/${kind}`);
}

/** An object that is there. */
export interface SeenObject {
  namespace: string;
  name: string;
  uid: string;
  /** AppContext and app that its label names. */
  context: string;
  app: string;
  /** What is kept of it. */
  object: Members;
}

/** Returns what is kept of an object that a watch tells of; null where its label names nothing of ours. */
export function seenObject(kind: WatchedKind, object: unknown): SeenObject | null {
  const place = placeOfSeen(object);
  const label = parseLabelValue(textAt(object, 'metadata', 'labels', DEPLOYMENT_LABEL));
  if (place === null || label === null) return null;
  return { ...place, uid: textAt(object, 'metadata', 'uid'), ...label, object: keptOf(kind, membersOf(object)) };
}

/** Returns where an object is that a watch tells of; null where it has no name. */
export function placeOfSeen(object: unknown): { namespace: string; name: string } | null {
  const name = textAt(object, 'metadata', 'name');
  return name === '' ? null : { namespace: textAt(object, 'metadata', 'namespace'), name };
}

/** Lists and answers with metadata alone name another kind than that of the object. */
function keptOf(watched: WatchedKind, object: Members): Members {
  const { group, version, kind } = watched;
  const { managedFields: _, ...metadata } = membersOf(withoutLastApplied(object).metadata);
  const head = { apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata };
  if (isMetadataOnly(watched)) return head;
  const { apiVersion: __, kind: ___, metadata: ____, ...rest } = object;
  return withoutSecretValues({ ...head, ...rest });
}

/**
 * Returns the live objects that are shown of a group: those that a manifest describes, Pods, and Jobs of its CronJobs. Our label also reaches
 * what controllers make for them.
 */
export function shownLive(live: readonly LiveResource[], manifests: readonly { identity: Identity }[]): LiveResource[] {
  const described = new Set(manifests.map(({ identity }) => idOf(identity)));
  return live.filter(({ identity, object, isOwn }) => {
    if (described.has(idOf(identity))) return true;
    if (!isOwn) return false;
    if (isKind(identity, POD)) return true;
    return isKind(identity, JOB) && ownersOf(object).some((name) => described.has(idOf(cronJob(identity, name))));
  });
}

/** Returns the names of the CronJobs that an object belongs to. */
function ownersOf(object: Members): string[] {
  const owners = listAt(object, 'metadata', 'ownerReferences').filter(hasMembers);
  const own = owners.filter((owner) => at(owner, 'kind') === CRON_JOB.kind && groupOf(owner) === CRON_JOB.group);
  return own.map((owner) => textAt(owner, 'name'));
}

function groupOf(owner: Members): string {
  const [group = '', version] = textAt(owner, 'apiVersion').split('/');
  return version === undefined ? '' : group;
}

function cronJob({ namespace }: Identity, name: string): Identity {
  return { ...CRON_JOB, version: '', namespace, name };
}

function isKind(identity: Identity, { group, kind }: Pick<WatchedKind, 'group' | 'kind'>): boolean {
  return identity.group === group && identity.kind === kind;
}

function latest(times: readonly (Date | null)[]): Date | null {
  return times.reduce((last, time) => (time !== null && (last === null || time > last) ? time : last), null);
}
