/**
 * How workflows read what came to them: the worker has checked each payload and says so in its metadata, since no workflow may see
 * the key. Without such marks nothing was checked, as in a replay of a recorded history. What is decided here is decided again in each
 * replay, so it depends on nothing but the payload, the start of the workflow and the time since when MACs are required, which only moves on.
 */
import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';
import { CHECKED_FIELD, REQUIRED_SINCE_FIELD, unsignedCounts } from '../../domain/engine/seal.ts';
import { SealingFailureConverter } from './sealed-failures.ts';

/** Stands in place of what is refused. */
export class Refused {}

const text = (bytes: Uint8Array | null | undefined): string | undefined =>
  bytes ? String.fromCharCode(...bytes) : undefined;

let requiredSince: Date | null = null;
let isChecked = false;

/** Whether what has no MAC counts in this workflow. */
export function countsUnsigned(): boolean {
  return !isChecked || unsignedCounts(workflowInfo().startTime, requiredSince);
}

function standingOf({ metadata }: Pick<Payload, 'metadata'>): 'ours' | 'unsigned' | 'refused' {
  const checked = text(metadata?.[CHECKED_FIELD]);
  if (checked === undefined) return 'unsigned';
  isChecked = true;
  const since = text(metadata?.[REQUIRED_SINCE_FIELD]);
  if (since) requiredSince = new Date(since);
  if (checked === 'ours') return 'ours';
  return checked === 'unsigned' && countsUnsigned() ? 'unsigned' : 'refused';
}

export const payloadConverter: PayloadConverter = {
  toPayload: (value, context) => defaultPayloadConverter.toPayload(value, context),
  fromPayload: <T>(payload: Payload, context?: Parameters<PayloadConverter['fromPayload']>[1]): T => {
    if (standingOf(payload) === 'refused') return new Refused() as T;
    return defaultPayloadConverter.fromPayload<T>(payload, context);
  },
};

export const failureConverter = new SealingFailureConverter((seal) => {
  if (seal) return standingOf(seal);
  return countsUnsigned() ? 'unsigned' : 'refused';
});
