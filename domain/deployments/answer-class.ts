/** What an answer of a member cluster, or its absence, means for the resource. */
import type { Reason } from './reasons.ts';

export type ClusterCall = 'read' | 'apply' | 'delete';

/** What came back. `status`: a Status object of Kubernetes, where the body is one; null where the body is nothing of Kubernetes. */
export interface ClusterAnswer {
  httpStatus: number;
  /** Whole seconds of `Retry-After`. */
  retryAfter: number | null;
  body: { kind: 'object' } | StatusBody | null;
}

export interface StatusBody {
  kind: 'status';
  reason: string;
  message: string;
  causes: readonly string[];
}

/** No answer: the address is not allowed, or the connection failed. */
export type NoAnswer = { noAnswer: 'address' | 'connection'; message: string };

export type AnswerClass =
  | { is: 'accepted' }
  | { is: 'absent' }
  /** The object or its namespace is still being deleted. */
  | { is: 'being-deleted'; message: string }
  /** Tried again once the cluster can be reached. */
  | { is: 'unreachable'; reason: string; message: string; retryAfter: number | null }
  | { is: 'refused'; reason: string; message: string }
  /** It depends on whether the cluster answers anything at all. */
  | { is: 'ask-version'; reason: string; message: string }
  /** The object has changed since it was read. */
  | { is: 'changed'; message: string };

const UNREACHABLE = [429, 502, 503, 504];
const UNKNOWN_FIELD = /typed patch object/;
/** Longest text of a cluster that is kept, characters. */
const SHOWN_MAX = 1024;
const NAMESPACE_TERMINATING = 'NamespaceTerminating';

/** Answers of what stands in front of the API server, or of a server that gave up waiting for its own work. */
const STILL_AT_WORK = [502, 504];

/** Whether nothing of a call is on its way any more. Without an answer, and behind these ones, it may still be carried out. */
export function hasEnded(answer: ClusterAnswer | NoAnswer): boolean {
  return !('noAnswer' in answer) && !STILL_AT_WORK.includes(answer.httpStatus);
}

/** Returns what an answer means. `isSecret`: only the reason is kept, since messages may quote what was sent. */
export function classOf(call: ClusterCall, answer: ClusterAnswer | NoAnswer, isSecret: boolean): AnswerClass {
  if ('noAnswer' in answer) {
    const reason: Reason | 'Unreachable' = answer.noAnswer === 'address' ? 'AddressNotAllowed' : 'Unreachable';
    return { is: 'unreachable', reason, message: cleanText(answer.message), retryAfter: null };
  }
  const { httpStatus, body, retryAfter } = answer;
  const said = body?.kind === 'status' ? body : null;
  const message = isSecret ? '' : cleanText(said?.message ?? '');
  const reason = cleanText(said?.reason ?? '') || `Status${httpStatus}`;
  if (httpStatus === 401) return { is: 'unreachable', reason: 'Unauthorized', message, retryAfter };
  if (UNREACHABLE.includes(httpStatus)) return { is: 'unreachable', reason, message, retryAfter };
  if (httpStatus < 200 || (httpStatus >= 300 && httpStatus < 400) || body === null) {
    return {
      is: 'refused',
      reason: 'NotKubernetes',
      message: `the answer ${httpStatus} is not of a Kubernetes API server`,
    };
  }
  if (httpStatus < 300) return { is: 'accepted' };
  if (httpStatus === 404 && call !== 'apply') return { is: 'absent' };
  if (httpStatus === 403 && call === 'apply' && said?.causes.includes(NAMESPACE_TERMINATING)) {
    return { is: 'being-deleted', message };
  }
  if (httpStatus === 409 && call === 'delete') return { is: 'changed', message };
  if (httpStatus === 500) {
    return call === 'apply' && UNKNOWN_FIELD.test(said?.message ?? '')
      ? { is: 'refused', reason: 'UnknownField', message }
      : { is: 'ask-version', reason, message };
  }
  return { is: 'refused', reason, message };
}

/** Returns a cluster's text without control characters, at most 1,024 characters. */
export function cleanText(text: string): string {
  return (
    text
      .slice(0, SHOWN_MAX * 2)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is taken out
      .replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/g, ' ')
      .slice(0, SHOWN_MAX)
      .trim()
  );
}
