import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { trusting } from '../certificates/trusting.ts';

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
 * Status and text of an answer; redirects are not followed.
 * @throws {Error} when there is no whole answer in time; its words hold nothing of what was sent
 */
export function askJson(asked: JsonRequest): Promise<{ status: number; text: string }> {
  const { method, url, headers, body, ca, timeoutMs, answerMax = ANSWER_MAX } = asked;
  const late = AbortSignal.timeout(timeoutMs);
  const payload = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(new Error(late.aborted ? `no answer within ${timeoutMs / 1000} s` : error.message || error.name));
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const options = {
      method,
      signal: asked.signal === undefined ? late : AbortSignal.any([late, asked.signal]),
      agent: false as const,
      headers: {
        accept: 'application/json',
        ...(payload === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
        ...headers,
      },
      ...trusting(ca),
    };
    const request = send(url, options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('error', fail);
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > answerMax) response.destroy(new Error(`an answer of more than ${answerMax} bytes`));
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    request.on('error', fail);
    request.end(payload);
  });
}
