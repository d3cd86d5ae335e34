import type { ErrorCode } from '../errors.ts';

/**
 * Why a session, or its Job, is where it is: a code of the catalogue, or a word for what its playbooks came to or for a result that a client
 * wrote over a complete record. A record may have a word of another release. Code that looks a word of a record up in the catalogue asks
 * `isErrorCode` first.
 */
export type SessionReason = ErrorCode | 'layer_failed' | 'no_host_ran' | 'changed_outside';
