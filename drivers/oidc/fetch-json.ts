import { messageOf } from '../../domain/text/message-of.ts';
import { type Answer, exchange, toTarget } from '../http/exchange.ts';

/** Largest document of an issuer that is read, bytes. */
const MAX_BYTES = 1024 * 1024;
const FOUND = 200;

export interface FetchOptions {
  /** Certificates to trust besides the public ones, PEM. */
  ca: string | undefined;
  /** For connecting, asking and reading together, ms. */
  timeoutMs: number;
}

/**
 * Returns the JSON at an address. Redirects are not followed: an issuer's documents are where they are said to be.
 * @throws {Error} with a sentence that names what went wrong
 */
export async function fetchJson(url: string, { ca, timeoutMs }: FetchOptions): Promise<unknown> {
  const { status, bytes, isCut } = await get(url, ca, timeoutMs);
  if (status !== FOUND) throw new Error(`it answers ${status}`);
  if (isCut) throw new Error(`it answers more than ${MAX_BYTES} bytes`);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Error('it does not answer JSON');
  }
}

async function get(url: string, ca: string | undefined, timeoutMs: number): Promise<Answer> {
  try {
    return await exchange(
      { ...toTarget({ url, ca }), headers: { accept: 'application/json' } },
      { withinMs: timeoutMs, mostBytes: (status) => (status === FOUND ? MAX_BYTES : 0) },
    );
  } catch (error) {
    throw new Error(messageOf(error));
  }
}
