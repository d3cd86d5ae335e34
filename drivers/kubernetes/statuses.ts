/** Statuses of a cluster's answers that mean something to the runner. */

/** What a webhook of the cluster that names no status of its own makes of a request that it does not let pass. */
export const BAD_REQUEST = 400;
/** The token is not good (any more). */
export const UNAUTHORIZED = 401;
/** The account has too few rights. */
export const FORBIDDEN = 403;
export const ABSENT = 404;
/** There is one of that name already, or it was changed meanwhile. */
export const CONFLICT = 409;
/** The cluster no longer knows the version from which on it was asked to tell. */
export const GONE = 410;
/** What a policy of the cluster answers to a request that it does not let pass. */
export const INVALID = 422;
