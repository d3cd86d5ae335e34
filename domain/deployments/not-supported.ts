/** What EMCO, or the description of this lane, has and this build has not: it is refused and never ignored. */
import { type MusterError, musterError } from '../errors.ts';

/** Returns the refusal `not_supported`. */
export function notSupported(what: string): MusterError {
  return musterError('not_supported', `${what} is not built yet`);
}
