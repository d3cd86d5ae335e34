/** Custom resources and their reconciles in words. */
import type {
  OperatorReconcileView,
  OperatorResourceView,
  OperatorWatchView,
} from '../../../domain/operator/view-schema.ts';
import { shellWord } from '../shared/commands.ts';

type Named = Pick<OperatorResourceView, 'namespace' | 'name'>;
type Standing = Pick<
  OperatorResourceView,
  'phase' | 'paused' | 'paused_until' | 'next_attempt_at' | 'failures_in_a_row' | 'reason'
>;

/** Returns `namespace/name`, or the name alone of a cluster-scoped resource. */
export const nameOf = ({ namespace, name }: Named): string => (namespace === '' ? name : `${namespace}/${name}`);

/** Returns a kind with group and version. */
export const kindOf = ({ group, version, kind }: Pick<OperatorWatchView, 'group' | 'version' | 'kind'>): string =>
  `${group === '' ? '' : `${group}/`}${version} ${kind}`;

/** Returns why a resource is as it is, and what it waits for; the time of that stands beside. */
export function whyText({ phase, paused_until, next_attempt_at, failures_in_a_row: failures }: Standing): string {
  switch (phase) {
    case 'waiting':
      return next_attempt_at === null
        ? 'Nothing is due: it reconciles when it or a dependent changes'
        : 'Nothing is due before the time of its next run, unless it or a dependent changes';
    case 'queued':
      return 'It is due, and waits for a process of its operator with a free slot';
    case 'running':
      return 'A reconcile of it runs';
    case 'backing_off':
      return `${failures} ${failures === 1 ? 'reconcile' : 'reconciles'} in a row failed: it is tried again after a wait that grows`;
    case 'paused':
      return paused_until === null ? 'It is paused until a user resumes it' : 'It is paused for a time';
    case 'deleting':
      return 'It is deleted in its cluster, and its finalizer is to run before it goes';
    case 'gone':
      return 'It is no more in its cluster; its records stay for a while';
  }
}

/** Returns `dependent Deployment ns/web`, `retry 3`, `manual by ann`. */
export function causeText({ type, object, by, attempt }: OperatorReconcileView['cause']): string {
  const words = [type, object, attempt, by === undefined ? undefined : `by ${by}`];
  return words.filter((word) => word !== undefined).join(' ');
}

/** Returns how a reconcile ended, or that it has not. */
export const outcomeText = ({ outcome }: Pick<OperatorReconcileView, 'outcome'>): string => outcome ?? 'open';

/** Returns the counts of tasks that are not 0. */
export function countsText({ counters }: Pick<OperatorReconcileView, 'counters'>): string {
  if (counters === null) return '';
  const counts = Object.entries(counters).filter(([, count]) => count > 0);
  return counts.map(([word, count]) => `${word} ${count}`).join(', ');
}

type Write = NonNullable<OperatorReconcileView['writes']['listed']>[number];

/** Returns what a run wrote: `create Deployment.apps ns/web`. */
export function writeText({ verb, group, kind, subresource, ...named }: Write): string {
  const of = [group === '' ? kind : `${kind}.${group}`, subresource].filter((word) => word !== '').join('/');
  return `${verb} ${of} ${nameOf(named)}`;
}

/** Verbs of a resource's routes. */
export type ResourceVerb = 'reconcile' | 'cancel' | 'pause' | 'resume';

/** Returns why a verb does nothing now; null: it does something. */
export function verbRefusal(verb: ResourceVerb, { phase, paused, next_attempt_at }: Standing): string | null {
  if (phase === 'gone') return 'It is gone';
  if (verb === 'reconcile') return paused ? 'It is paused: resume it first' : null;
  if (verb === 'pause') return paused ? 'It is paused' : null;
  if (verb === 'resume') return paused ? null : 'It is not paused';
  const isIdle = (phase === 'waiting' && next_attempt_at === null) || phase === 'paused';
  return isIdle ? 'No reconcile of it runs or waits' : null;
}

/** Returns the command of a verb of a resource. */
export function resourceCommand(
  verb: string,
  { kind, operator, ...named }: Pick<OperatorResourceView, 'kind' | 'operator' | 'namespace' | 'name'>,
): string {
  return `./muster operator ${verb} ${shellWord(kind)} ${shellWord(nameOf(named))} --operator=${shellWord(operator)}`;
}
