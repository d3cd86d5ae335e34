import { messageOf } from '../../domain/text/message-of.ts';
import { exchange, toTarget } from './exchange.ts';

/** Largest answer that is read unless the caller says otherwise, bytes. */
const ANSWER_MAX = 4 * 1024 * 1024;

export interface JsonRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** Certificates to trust besides the public ones, PEM. */
  ca?: string | undefined;
  /** From connecting to the last byte, ms. */
  timeoutMs: number;
  /** Largest answer that is read, bytes. Default 4 MiB. */
  answerMax?: number;
  /** Ends it before its time. */
  signal?: AbortSignal;
}

/**
 * Returns status and text of an answer; redirects are not followed.
 * @throws {Error} when there is no whole answer in time; its words hold nothing of what was sent
 */
export async function askJson(asked: JsonRequest): Promise<{ status: number; text: string }> {
  const { method, url, headers, body, ca, timeoutMs, answerMax = ANSWER_MAX, signal } = asked;
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const type = payload === undefined ? {} : { 'content-type': 'application/json' };
  const outgoing = {
    ...toTarget({ url, ca }),
    method,
    body: payload,
    headers: { accept: 'application/json', ...type, ...headers },
  };
  try {
    const limits = { withinMs: timeoutMs, signal, mostBytes: () => answerMax };
    const { status, bytes, isCut } = await exchange(outgoing, limits);
    if (isCut) throw new Error(`an answer of more than ${answerMax} bytes`);
    return { status, text: bytes.toString('utf8') };
  } catch (error) {
    // Without the cause, which may hold more of the request.
    throw new Error(messageOf(error));
  }
}
