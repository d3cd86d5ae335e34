import { musterError } from '../../domain/errors.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { exchange, LateAnswer, toTarget } from '../http/exchange.ts';

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

async function ask(url: URL, ca: string | undefined, timeoutMs: number): Promise<{ status: number; text: string }> {
  try {
    const { status, bytes, isCut } = await exchange(
      { ...toTarget({ url, ca }), headers: { accept: 'application/json' } },
      { withinMs: timeoutMs, mostBytes: () => ANSWER_MAX },
    );
    if (isCut) throw new Error('the answer is too large');
    return { status, text: bytes.toString('utf8') };
  } catch (error) {
    if (error instanceof LateAnswer) throw unavailable(`did not answer within ${timeoutMs / 1000} s`);
    throw unavailable(`failed: ${messageOf(error)}`);
  }
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
