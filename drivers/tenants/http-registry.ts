import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { musterError } from '../../domain/errors.ts';
import { trusting } from '../certificates/trusting.ts';

export interface HttpRegistryOptions {
  /** Base address, like `https://registry.example.com/apis/tapms/v1alpha3`; it is asked for `<base>/tenants/<name>`. */
  url: string;
  /** Certificates to trust besides the public ones, PEM. */
  ca?: string | undefined;
  /** For one question from connection to last byte, ms. Default 5,000 (cfs-api 15.19). */
  timeoutMs?: number;
}

/** A record of a tenant is small; what is larger is something else, bytes. */
const ANSWER_MAX = 1024 * 1024;

/**
 * A registry that is asked for each name: 200 with a JSON object means that there is such a tenant, 404 that there is none.
 * Everything else, and no whole answer in time, is `tenant_registry_unavailable`: whether a tenant exists is never guessed.
 * Redirects are not followed.
 */
export function openHttpRegistry({ url, ca, timeoutMs = 5_000 }: HttpRegistryOptions) {
  const base = `${url.replace(/\/+$/, '')}/tenants/`;
  return {
    async hasTenant(name: string): Promise<boolean> {
      // In a path these mean another place.
      if (name === '.' || name === '..') return false;
      const { status, text } = await ask(new URL(base + encodeURIComponent(name)), ca, timeoutMs);
      if (status === 404) return false;
      if (status === 200 && isObject(text)) return true;
      const what = status === 200 ? 'something else than the record of a tenant' : `with status ${status}`;
      throw unavailable(`answered ${what}`);
    },
  };
}

function ask(url: URL, ca: string | undefined, timeoutMs: number): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(unavailable(signal.aborted ? `did not answer within ${timeoutMs / 1000} s` : `failed: ${error.message}`));
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(
      url,
      { ...trusting(ca), signal, agent: false, headers: { accept: 'application/json' } },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > ANSWER_MAX) request.destroy(new Error('the answer is too large'));
          else chunks.push(chunk);
        });
        response.on('error', fail);
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
        });
      },
    );
    request.on('error', fail);
    request.end();
  });
}

function isObject(text: string): boolean {
  try {
    const data: unknown = JSON.parse(text);
    return typeof data === 'object' && data !== null && !Array.isArray(data);
  } catch {
    return false;
  }
}

function unavailable(what: string) {
  return musterError('tenant_registry_unavailable', `The tenant registry ${what}; try again.`);
}
