/** A call to a member cluster, and what comes back. */
import type { ClusterAnswer, NoAnswer } from '../../domain/deployments/answer-class.ts';

export interface Call {
  method: 'GET' | 'PATCH' | 'DELETE';
  path: string;
  /** Media type of the answer; default: application/json. */
  accept?: string;
  /** Of the body. */
  type?: string;
  body?: object;
  /** Ends it before its time. */
  signal?: AbortSignal;
}

export type Said = (ClusterAnswer & { data: unknown }) | NoAnswer;

/** An answer that goes on, or why there is none. */
export type Opened = { stream: AsyncIterable<Buffer> } | { failed: ClusterAnswer | NoAnswer };

/** Opens an answer whose body is read as it comes; the signal ends it. */
export type Open = (call: Pick<Call, 'path' | 'accept'>, signal: AbortSignal) => Promise<Opened>;

/** Returns an answer, or why there is none. */
export type Ask = (call: Call) => Promise<Said>;
