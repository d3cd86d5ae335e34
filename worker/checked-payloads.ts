/** How activities read what came to them; a file of its own, since the SDK loads it by its path. */
import { defaultPayloadConverter, type Payload, type PayloadConverter } from '@temporalio/common';
import { CHECKED_FIELD } from '../domain/engine/seal.ts';
import { SealingFailureConverter } from '../workflows/engine/sealed-failures.ts';

/** Of what has no MAC. Whether it counts is seen by the time of the work. */
export class Unsigned {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

/** Stands in place of what has a MAC that is not valid. */
export class Refused {}

export const payloadConverter: PayloadConverter = {
  toPayload: (value, context) => defaultPayloadConverter.toPayload(value, context),
  fromPayload: <T>(payload: Payload, context?: Parameters<PayloadConverter['fromPayload']>[1]): T => {
    const checked = payload.metadata?.[CHECKED_FIELD];
    const said = checked ? Buffer.from(checked).toString() : 'ours';
    if (said === 'wrong') return new Refused() as T;
    const value = defaultPayloadConverter.fromPayload<T>(payload, context);
    return said === 'ours' ? value : (new Unsigned(value) as T);
  },
};

/** A worker makes failures and reads none. */
export const failureConverter = new SealingFailureConverter(() => 'unsigned');
