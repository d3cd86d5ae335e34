/** Asks the cluster who may read the metrics, and keeps its answers for a minute. */
import { createHash } from 'node:crypto';
import {
  accessReview,
  bearerToken,
  isAllowed,
  type MetricsVerdict,
  tokenReview,
  userOfReview,
} from '../../domain/operator/metrics-access.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import type { ClusterClient } from '../kubernetes/cluster-client.ts';

const KEPT_MS = 60_000;
/** Answers that are kept: those that admit apart, so that many wrong tokens do not push them out. */
const ADMITTED_MAX = 100;
const REFUSED_MAX = 1_000;
/** Tokens of which the cluster is asked at the same time. */
const AT_ONCE = 10;
const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';
const ACCESS_REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/** `unanswered`: the cluster could not be asked. */
export type MetricsGuard = (authorization: string | undefined) => Promise<MetricsVerdict | 'unanswered'>;

interface Kept {
  verdict: MetricsVerdict;
  until: number;
}

export interface MetricsGuardOptions {
  client: Pick<ClusterClient, 'ask'>;
  clock(): Date;
  log: { warn(fields: object, message: string): void };
}

/** Opens the guard. A token is kept as its hash alone. */
export function createMetricsGuard({ client, clock, log }: MetricsGuardOptions): MetricsGuard {
  const admitted = new Map<string, Kept>();
  const refused = new Map<string, Kept>();
  const asking = new Map<string, Promise<MetricsVerdict | 'unanswered'>>();
  let toldReason: string | null = null;

  const review = async (token: string): Promise<MetricsVerdict> => {
    // A refusal may quote what was sent.
    const post = <T>(path: string, body: object) => client.ask<T>({ method: 'POST', path, body, secret: true });
    const user = userOfReview((await post<Parameters<typeof userOfReview>[0]>(TOKEN_REVIEWS, tokenReview(token))).body);
    if (user === null) return 'unknown';
    const { body } = await post<Parameters<typeof isAllowed>[0]>(ACCESS_REVIEWS, accessReview(user));
    return isAllowed(body) ? 'admitted' : 'forbidden';
  };

  const keep = (key: string, verdict: MetricsVerdict): void => {
    const [kept, most] = verdict === 'admitted' ? [admitted, ADMITTED_MAX] : [refused, REFUSED_MAX];
    kept.delete(key);
    kept.set(key, { verdict, until: clock().getTime() + KEPT_MS });
    const [oldest] = kept.keys();
    if (kept.size > most && oldest !== undefined) kept.delete(oldest);
  };

  const ask = async (key: string, token: string): Promise<MetricsVerdict | 'unanswered'> => {
    try {
      const verdict = await review(token);
      toldReason = null;
      keep(key, verdict);
      return verdict;
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== toldReason) log.warn({ err: reason }, 'the cluster was not asked who may read the metrics');
      toldReason = reason;
      return 'unanswered';
    } finally {
      asking.delete(key);
    }
  };

  return async (authorization) => {
    const token = bearerToken(authorization);
    if (token === null) return 'unknown';
    const key = createHash('sha256').update(token).digest('base64url');
    const kept = admitted.get(key) ?? refused.get(key);
    if (kept !== undefined && kept.until > clock().getTime()) return kept.verdict;
    admitted.delete(key);
    refused.delete(key);
    const underWay = asking.get(key);
    if (underWay !== undefined) return underWay;
    if (asking.size >= AT_ONCE) return 'unanswered';
    const answer = ask(key, token);
    asking.set(key, answer);
    return answer;
  };
}
