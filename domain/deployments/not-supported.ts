/** What EMCO, or the description of this lane, has and this build has not: it is refused and never ignored. */
import { MusterError } from '../errors.ts';
import { DEPLOYMENT_MEANINGS } from './errors.ts';

/** Returns the refusal `not_supported`, with the status that it has on both surfaces of this lane. */
export function notSupported(what: string): MusterError {
  return new MusterError(
    'not_supported',
    `${what} is not built yet`,
    undefined,
    undefined,
    DEPLOYMENT_MEANINGS.not_supported.status,
  );
}
