/** What Muster writes into the status of a resource. Every function returns a new status; keys of others are kept. */
import { wireTime } from '../text/times.ts';
import { type AnyCondition, type Condition, readConditions, setCondition, turnFalse } from './conditions.ts';
import { isJsonMap } from './custom-resource.ts';
import type { ResultCounters } from './outcome.ts';

export type Status = Readonly<Record<string, unknown>>;

/** The result of a run, as conditions show it. */
export interface AnsibleResult extends ResultCounters {
  completion?: string;
}

export const RUNNING = 'Running reconciliation';
export const AWAITING = 'Awaiting next reconciliation';
export const SUCCEEDED = 'Last reconciliation succeeded';
/** The run could not be started. */
export const UNABLE = 'Unable to run reconciliation';

interface Writing {
  now: Date;
  /** The generation that the run read, where the entry wants it in the status. */
  observedGeneration?: number;
}

/** Returns the status at the start of a run. */
export function markRunning(status: unknown, { now }: Writing): Status {
  return changed(status, now, (list) =>
    setCondition(turnFalse(list, 'Successful'), of('Running', 'True', 'Running', RUNNING, now)),
  );
}

/** Returns the status of a resource that could not be run. */
export function markError(status: unknown, message: string, { now }: Writing): Status {
  return changed(status, now, (list) =>
    setCondition(turnFalse(turnFalse(list, 'Running'), 'Successful'), of('Failure', 'True', 'Failed', message, now)),
  );
}

/** Returns the status after a run that was ok. */
export function markSucceeded(
  status: unknown,
  ansibleResult: AnsibleResult,
  { now, observedGeneration }: Writing,
): Status {
  const conditions: Condition[] = [
    { ...of('Running', 'True', 'Successful', AWAITING, now), ansibleResult },
    of('Successful', 'True', 'Successful', SUCCEEDED, now),
    of('Failure', 'False', '', '', now),
  ];
  return { ...changed(status, now, (list) => conditions.reduce(setCondition, list)), ...observed(observedGeneration) };
}

/** Returns the status after a run that failed; `messages` become one text. */
export function markFailed(
  status: unknown,
  messages: readonly string[],
  ansibleResult: AnsibleResult | null,
  { now, observedGeneration }: Writing,
): Status {
  const failure = of('Failure', 'True', 'Failed', messages.join('\n'), now);
  const written = changed(status, now, (list) =>
    setCondition(
      setCondition(turnFalse(list, 'Running'), ansibleResult === null ? failure : { ...failure, ansibleResult }),
      of('Successful', 'False', '', '', now),
    ),
  );
  return { ...written, ...observed(observedGeneration) };
}

function changed(status: unknown, now: Date, change: (list: AnyCondition[]) => AnyCondition[]): Status {
  const kept = isJsonMap(status) ? status : {};
  return { ...kept, conditions: change(readConditions(kept.conditions, now)) };
}

function of(type: Condition['type'], status: string, reason: string, message: string, now: Date): Condition {
  return { type, status, lastTransitionTime: wireTime(now), reason, message };
}

const observed = (generation: number | undefined) =>
  generation === undefined ? {} : { observedGeneration: generation };
