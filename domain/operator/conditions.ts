/** The three conditions in the status of a resource, and how they change. */
import { wireTime } from '../text/times.ts';
import { isJsonMap } from './custom-resource.ts';

export const CONDITION_TYPES = ['Running', 'Successful', 'Failure'] as const;
export type ConditionType = (typeof CONDITION_TYPES)[number];

export interface Condition {
  type: ConditionType;
  status: string;
  /** RFC 3339, UTC, whole seconds. */
  lastTransitionTime: string;
  reason: string;
  message: string;
  ansibleResult?: unknown;
}

/** A condition of somebody else, written back as it is. */
export type ForeignCondition = Readonly<Record<string, unknown>> & { type: string };
export type AnyCondition = Condition | ForeignCondition;

/** Whether a condition is one of the three. */
export function isOwn(condition: AnyCondition): condition is Condition {
  return CONDITION_TYPES.some((type) => type === condition.type);
}

/** Returns the first condition of a type. */
export function conditionOf(conditions: readonly AnyCondition[], type: ConditionType): Condition | undefined {
  return conditions.filter(isOwn).find((condition) => condition.type === type);
}

/** Returns the conditions of a status. What is no map is dropped; in the three, what is missing is filled in. */
export function readConditions(value: unknown, now: Date): AnyCondition[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isJsonMap).map((raw) => {
    const type = typeof raw.type === 'string' ? raw.type : 'Running';
    const foreign = { ...raw, type };
    if (!isOwn(foreign)) return foreign;
    return {
      type: foreign.type,
      status: textOr(raw.status, 'True'),
      lastTransitionTime: timeOr(raw.lastTransitionTime, now),
      reason: textOr(raw.reason, ''),
      message: textOr(raw.message, ''),
      ...(isJsonMap(raw.ansibleResult) ? { ansibleResult: raw.ansibleResult } : {}),
    };
  });
}

/**
 * Returns the list with a condition set: at the end, with the old time where the status is as before. Unless it is `Failure`, nothing
 * changes where status and reason are as before, not even the message.
 */
export function setCondition(conditions: readonly AnyCondition[], set: Condition): AnyCondition[] {
  const present = conditionOf(conditions, set.type);
  const sameStatus = present !== undefined && present.status === set.status;
  if (sameStatus && set.type !== 'Failure' && present.reason === set.reason) return [...conditions];
  const lastTransitionTime = sameStatus ? present.lastTransitionTime : set.lastTransitionTime;
  return [...conditions.filter(({ type }) => type !== set.type), { ...set, lastTransitionTime }];
}

/** Returns the list with a condition turned to False, if it is there. It keeps its reason, its message and its old time. */
export function turnFalse(conditions: readonly AnyCondition[], type: ConditionType): AnyCondition[] {
  const present = conditionOf(conditions, type);
  return present === undefined ? [...conditions] : setCondition(conditions, { ...present, status: 'False' });
}

const textOr = (value: unknown, instead: string): string => (typeof value === 'string' ? value : instead);

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

function timeOr(value: unknown, now: Date): string {
  const time = typeof value === 'string' && RFC_3339.test(value) ? new Date(value) : null;
  return wireTime(time === null || Number.isNaN(time.getTime()) ? now : time);
}
