/** Failures with what is decided by them in a payload, which is signed; text and type stay where Temporal's web UI shows them. */
import {
  ApplicationFailure,
  DefaultFailureConverter,
  type PayloadConverter,
  type ProtoFailure,
  type SerializationContext,
} from '@temporalio/common';
import { isSealedFailure, REFUSED, type SealedFailure } from '../../domain/engine/seal.ts';

/** Whether the payload that seals a failure counts: valid, or without MAC (undefined: without payload) where that counts. */
export type FailureCheck = (seal: ProtoFailure['encodedAttributes']) => 'ours' | 'unsigned' | 'refused';

const REFUSED_FAILURE = 'a failure came through Temporal without a valid MAC of this installation';

function sealOf({ message, applicationFailureInfo: info }: ProtoFailure): SealedFailure {
  return { message: message ?? '', type: info?.type ?? '', non_retryable: Boolean(info?.nonRetryable) };
}

/** Failures of our own code are sealed; those that the engine itself makes (time ran out, cancelled) say nothing that anybody could lie in. */
export class SealingFailureConverter extends DefaultFailureConverter {
  readonly #check: FailureCheck;

  constructor(check: FailureCheck) {
    super();
    this.#check = check;
  }

  override errorToFailure(error: unknown, payloads: PayloadConverter, context?: SerializationContext): ProtoFailure {
    const failure = super.errorToFailure(error, payloads, context);
    if (!failure.applicationFailureInfo || failure.encodedAttributes) return failure;
    const encodedAttributes = payloads.toPayload(sealOf(failure), context);
    return encodedAttributes === undefined ? failure : { ...failure, encodedAttributes };
  }

  override failureToError(failure: ProtoFailure, payloads: PayloadConverter, context?: SerializationContext): Error {
    const { encodedAttributes: seal } = failure;
    if (!failure.applicationFailureInfo) return super.failureToError(failure, payloads, context);
    const checked = this.#check(seal);
    const isSame =
      checked !== 'ours' || (seal && isSealedFailure(payloads.fromPayload(seal, context), sealOf(failure)));
    if (checked === 'refused' || !isSame) return ApplicationFailure.nonRetryable(REFUSED_FAILURE, REFUSED);
    const error = super.failureToError({ ...failure, encodedAttributes: null }, payloads, context);
    // What is thrown on is sealed again, for its next reader.
    if (error instanceof ApplicationFailure) error.failure = failure;
    return error;
  }
}
