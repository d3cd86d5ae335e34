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
}

export type Said = (ClusterAnswer & { data: unknown }) | NoAnswer;

/** Returns an answer, or why there is none. */
export type Ask = (call: Call) => Promise<Said>;
