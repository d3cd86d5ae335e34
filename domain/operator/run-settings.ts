/** What the annotations of a resource change of its runs. Whoever edits a resource writes them, so every value has bounds. */
import { durationOf } from './duration.ts';
import type { WatchEntry } from './watch-entry.ts';

const PREFIX = 'ansible.sdk.operatorframework.io';
export const PERIOD_ANNOTATION = `${PREFIX}/reconcile-period`;
export const ARTIFACTS_ANNOTATION = `${PREFIX}/max-runner-artifacts`;
export const VERBOSITY_ANNOTATION = `${PREFIX}/verbosity`;

type Annotations = Readonly<Record<string, string>>;

/** Ansible knows seven levels; a number without a bound would fill the memory with letters. */
const MAX_VERBOSITY = 20;
const SHORTEST_PERIOD = 1;

/** An integer as Go reads it; null for any other text. */
function integerOf(text: string | undefined): number | null {
  if (text === undefined || !/^[+-]?\d+$/.test(text)) return null;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : null;
}

/** Returns how many v's the command gets: the annotation's number, else the entry's, at most 20. */
export function verbosityOf(annotations: Annotations, entry: Pick<WatchEntry, 'verbosity'>): number {
  return Math.min(integerOf(annotations[VERBOSITY_ANNOTATION]) ?? entry.verbosity, MAX_VERBOSITY);
}

/** Returns how many artifact directories the command keeps: the annotation's number unless it is negative, else the entry's. */
export function artifactsOf(annotations: Annotations, entry: Pick<WatchEntry, 'max_runner_artifacts'>): number {
  const wanted = integerOf(annotations[ARTIFACTS_ANNOTATION]);
  return wanted === null || wanted < 0 ? entry.max_runner_artifacts : wanted;
}

/** Returns the names of annotations whose value is no integer and has no effect. */
export function ignoredAnnotations(annotations: Annotations): string[] {
  return [ARTIFACTS_ANNOTATION, VERBOSITY_ANNOTATION].filter(
    (name) => annotations[name] !== undefined && integerOf(annotations[name]) === null,
  );
}

/**
 * Returns after how long (s) a resource runs again without an event, null for never: the period of its annotation, else of its entry, else
 * of the flags. A positive period of an annotation counts as at least one second.
 */
export function periodOf(
  annotations: Annotations,
  entry: Pick<WatchEntry, 'reconcile_period_seconds'>,
  defaultSeconds: number,
): { seconds: number | null } | { mistake: string } {
  const written = annotations[PERIOD_ANNOTATION];
  if (written === undefined) return timer(entry.reconcile_period_seconds ?? defaultSeconds);
  const period = durationOf(written);
  if ('mistake' in period) return { mistake: `Unable to parse reconcile period annotation: ${period.mistake}` };
  return timer(period.seconds > 0 ? Math.max(period.seconds, SHORTEST_PERIOD) : 0);
}

const timer = (seconds: number): { seconds: number | null } => ({ seconds: seconds > 0 ? seconds : null });
