import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { trusting } from '../certificates/trusting.ts';

/** Largest document of an issuer that is read, bytes. */
const MAX_BYTES = 1024 * 1024;

export interface FetchOptions {
  /** Certificates to trust besides the public ones, PEM. */
  ca: string | undefined;
  /** For connecting, asking and reading together, ms. */
  timeoutMs: number;
}

/**
 * The JSON at an address. Redirects are not followed: an issuer's documents are where they are said to be.
 * @throws {Error} with a sentence that names what went wrong
 */
export function fetchJson(url: string, { ca, timeoutMs }: FetchOptions): Promise<unknown> {
  const secure = url.startsWith('https:');
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const fail = (error: Error) =>
      reject(
        signal.aborted
          ? new Error(`no answer within ${timeoutMs / 1000} s`)
          : new Error(error.message || String(error)),
      );
    const options = { signal, headers: { accept: 'application/json' }, agent: false as const };
    const request = secure ? httpsRequest(url, { ...options, ...trusting(ca) }) : httpRequest(url, options);
    request.on('error', fail);
    request.on('response', (response) => {
      if (response.statusCode !== 200) {
        response.destroy();
        reject(new Error(`it answers ${response.statusCode}`));
        return;
      }
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('error', fail);
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > MAX_BYTES) response.destroy(new Error(`it answers more than ${MAX_BYTES} bytes`));
      });
      response.on('end', () => {
        try {
          resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')));
        } catch {
          reject(new Error('it does not answer JSON'));
        }
      });
    });
    request.end();
  });
}
