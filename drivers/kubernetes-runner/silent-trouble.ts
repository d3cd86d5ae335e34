import type { JobTrouble } from '../../domain/sessions/cluster/cluster-job.ts';
import { type EventObject, holding, type JobObject, type PodObject } from './objects.ts';
import { quantity } from './quantities.ts';

/** Words of events for a pod whose containers cannot be made yet: its volumes or its network are not there. */
const NOT_PREPARED = [
  'FailedMount',
  'FailedMapVolume',
  'FailedAttachVolume',
  'FailedCreatePodSandBox',
  'NetworkNotReady',
];
/** The same for a Job that gets no pod. */
const NO_POD = 'FailedCreate';
/** A volume is made from something that is not there. */
const MISSING = /not found|non-existent|doesn't exist/;
/** Room that others may give back, unless more is asked for than there is in all. */
const QUOTA = /exceeded quota/;
/** What is asked for and what there is in all, each as `NAME=QUANTITY`, separated by commas. */
const QUOTA_SHARES = /requested: (\S+), used: \S*, limited: (\S+)/;
/** Says nothing about what holds a pod up. */
const PLACED = 'Scheduled';

/**
 * Whether a Job waits and neither it nor its pod says what for: no pod was made, or the node has the pod and none of its containers
 * has begun.
 */
export function isSilent({ metadata, spec, status }: JobObject, pod: PodObject | null): boolean {
  const isOver = ['Complete', 'Failed', 'FailureTarget'].some((type) => holding(status?.conditions, type) !== null);
  if (isOver || metadata.deletionTimestamp !== undefined || spec?.suspend === true) return false;
  if (pod === null) return true;
  if (pod.spec?.nodeName === undefined || pod.metadata.deletionTimestamp !== undefined) return false;
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const hasBegun = statuses.some(({ state }) => state?.running !== undefined || state?.terminated !== undefined);
  return (pod.status?.phase ?? 'Pending') === 'Pending' && !hasBegun;
}

/**
 * What events say of that: of those after the last good one a reason that does not pass by itself, else the latest; of pods that were
 * refused the latest. Null: they tell of nothing that is the matter.
 */
export function troubleOfEvents(events: readonly EventObject[]): JobTrouble | null {
  const told = events.filter(({ reason }) => reason !== PLACED);
  const good = told.filter(({ type }) => type !== 'Warning').map(timeOf);
  const lastGood = good.sort().at(-1) ?? '';
  const warnings = told
    .filter((event) => event.type === 'Warning' && timeOf(event) > lastGood)
    .sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
  // Each try to make a pod is answered by itself: a quota may be larger now.
  const counting = warnings[0]?.reason === NO_POD ? warnings.slice(0, 1) : warnings;
  const troubles = counting.map(troubleOf).filter((trouble) => trouble !== null);
  return troubles.find(({ kind }) => kind === 'impossible') ?? troubles[0] ?? null;
}

function troubleOf({ reason = '', message = '' }: EventObject): JobTrouble | null {
  const words = `${reason}: ${message}`;
  if (reason === NO_POD && QUOTA.test(message)) return troubleOfQuota(words);
  if (reason === NO_POD) return { code: 'container_config_invalid', message: words, kind: 'impossible' };
  if (!NOT_PREPARED.includes(reason)) return null;
  return { code: 'container_config_invalid', message: words, kind: MISSING.test(message) ? 'impossible' : 'waiting' };
}

/** What is the matter where a quota leaves no room, in the words of the cluster. */
export function troubleOfQuota(message: string): JobTrouble {
  return { code: 'unschedulable', message, kind: quotaKind(message) };
}

/** `impossible` when what is asked for would be beyond the quota even if nothing else were there. */
function quotaKind(message: string): JobTrouble['kind'] {
  const [, requested = '', limited = ''] = QUOTA_SHARES.exec(message) ?? [];
  const whole = sharesOf(limited);
  const isBeyond = [...sharesOf(requested)].some(([name, wanted]) => wanted > (whole.get(name) ?? Number.NaN));
  return isBeyond ? 'impossible' : 'waiting';
}

function sharesOf(text: string): Map<string, number> {
  const pairs = text.split(',').map((share) => share.split('='));
  return new Map(pairs.map(([name = '', value = '']) => [name, quantity(value)]));
}

function timeOf({ lastTimestamp, eventTime, metadata }: EventObject): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';
}
