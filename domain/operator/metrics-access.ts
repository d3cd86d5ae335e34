/** Who may read the metrics: what the cluster is asked about a token, and what its answers mean. */

/** `unknown`: the cluster knows no account of that token. */
export type MetricsVerdict = 'admitted' | 'unknown' | 'forbidden';

export const METRICS_PATH = '/metrics';

/** Returns the token of a header `Authorization`; null where it has none. */
export function bearerToken(header: string | undefined): string | null {
  const [, token = ''] = /^bearer +(\S+) *$/i.exec(header ?? '') ?? [];
  return token === '' ? null : token;
}

/** Whose token it is, as the cluster says. */
export interface TokenUser {
  username: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}

/** The object that asks whose a token is. */
export const tokenReview = (token: string) => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  spec: { token },
});

/** Returns the account of a token as the cluster answered; null where it knows none. */
export function userOfReview({ status }: { status?: { authenticated?: boolean; user?: TokenUser } }): TokenUser | null {
  const user = status?.authenticated === true ? status.user : undefined;
  return user === undefined || user.username === '' ? null : user;
}

/** The object that asks whether an account may read the metrics. */
export const accessReview = ({ username, uid, groups, extra }: TokenUser) => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  spec: { user: username, uid, groups, extra, nonResourceAttributes: { path: METRICS_PATH, verb: 'get' } },
});

/** Whether the cluster allows it. */
export function isAllowed({ status }: { status?: { allowed?: boolean; denied?: boolean } }): boolean {
  return status?.allowed === true && status.denied !== true;
}
