import { type ErrorTable, kind } from '../error-kind.ts';

/** Requests that are not let in, and tokens. */
export const ACCESS_ERRORS = {
  host_not_allowed: kind(421, 'Misdirected Request', 4),
  cross_site: kind(403, 'Forbidden', 4),
  unauthenticated: kind(401, 'Unauthorized', 4, {
    advice: 'name a token with MUSTER_TOKEN_FILE or MUSTER_TOKEN; an administrator makes one: `./muster token create`',
  }),
  forbidden: kind(403, 'Forbidden', 4),
  too_many_failures: kind(429, 'Too Many Requests', 4, {
    advice: 'wrong tokens were sent too often from here: correct MUSTER_TOKEN or MUSTER_TOKEN_FILE, then wait',
  }),
  issuer_unavailable: kind(503, 'Service Unavailable', 7, {
    retryable: true,
    advice: 'the API cannot reach the issuer of the token; a token made by `./muster token create` still works',
  }),
  token_not_found: kind(404, 'Token not found', 3, { advice: '`./muster token list` shows the tokens' }),
  token_exists: kind(409, 'Conflicting token name', 5, {
    advice: 'choose another name, or revoke that one with `./muster token revoke NAME`',
  }),
} satisfies ErrorTable;
