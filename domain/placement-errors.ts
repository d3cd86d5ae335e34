/** Refusals on the surface `placement`: a few codes have another status there, as EMCO's API promises. */
import { type MusterError, OTHER_MEANINGS, type Problem, problemOf } from './errors.ts';

/** Returns the problem document of an error on this surface. */
export function placementProblemOf({ code, detail, field, errors, status }: MusterError): Problem {
  return problemOf({ code, detail, field, errors, status: OTHER_MEANINGS.deployments?.[code]?.status ?? status });
}
