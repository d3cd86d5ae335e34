import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** Largest answer that is read, bytes: a list of many thousand jobs. */
const ANSWER_MAX = 64 * 1024 * 1024;

export interface JsonCall {
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  token: string | undefined;
  body?: unknown;
  /** Certificates to trust instead of the platform's, PEM. */
  ca: string | undefined;
  /** From connecting to the last byte, ms. */
  timeoutMs: number;
  signal: AbortSignal;
}

/**
 * Status and text of an answer; redirects are not followed.
 * @throws {Error} when there is no whole answer in time; its words hold nothing of what was sent
 */
export function callJson(call: JsonCall): Promise<{ status: number; text: string }> {
  const late = AbortSignal.timeout(call.timeoutMs);
  const payload = call.body === undefined ? undefined : JSON.stringify(call.body);
  const headers: Record<string, string | number> = { accept: 'application/json' };
  if (call.token !== undefined) headers.authorization = `Bearer ${call.token}`;
  if (payload !== undefined) {
    headers['content-type'] = 'application/json';
    headers['content-length'] = Buffer.byteLength(payload);
  }
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(new Error(late.aborted ? `no answer within ${call.timeoutMs / 1000} s` : error.message || error.name));
    const send = call.url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = send(
      call.url,
      {
        method: call.method,
        headers,
        signal: AbortSignal.any([late, call.signal]),
        agent: false,
        ...(call.ca === undefined ? {} : { ca: call.ca }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('error', fail);
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          chunks.push(chunk);
          if (size > ANSWER_MAX) response.destroy(new Error(`an answer of more than ${ANSWER_MAX} bytes`));
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        );
      },
    );
    request.on('error', fail);
    request.end(payload);
  });
}
