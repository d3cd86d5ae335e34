/**
 * Requests over HTTP as they go over the wire, on a connection of their own unless the caller brings an agent. Redirects are not
 * followed: a caller that knows a redirect to be right asks again, under the rules that it has for its target.
 */
import { lookup as resolveName } from 'node:dns';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { SecureContext } from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import { messageOf } from '../../domain/text/message-of.ts';
import { trusting } from '../certificates/trusting.ts';

/** Where a request goes and what it holds: Node's own options, of which the protocol tells whether TLS is spoken. */
export interface Outgoing extends RequestOptions {
  secureContext?: SecureContext;
  body?: string | undefined;
}

export interface Target {
  /** May hold a user and a password. */
  url: string | URL;
  /** Certificates to trust besides the public ones, PEM. */
  ca?: string | undefined;
  /**
   * Throws for an address that must not be connected to. It is asked of each address of the target's name when the connection is
   * made, so no name can change in between.
   */
  checkAddress?: ((address: string) => void) | undefined;
}

export interface Limits {
  /** From connecting to the last byte, ms; default: no limit. */
  withinMs?: number | undefined;
  /** Without a byte in either direction, ms; default: no limit. */
  idleMs?: number | undefined;
  /** Of an answer of this status so much is read, bytes; the rest is left. At 0 no byte is waited for. */
  mostBytes(status: number): number;
  /** Ends it before its time. */
  signal?: AbortSignal | undefined;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  /** Whether there was more of it than might be read. */
  isCut: boolean;
}

/** There was no whole answer in time. */
export class LateAnswer extends Error {
  override name = 'LateAnswer';
}

/** The far side has closed a connection that was kept from a former request; whether it has read the request is not known. */
export class KeptConnectionClosed extends Error {
  override name = 'KeptConnectionClosed';
}

/** Returns the options of a request to `target`. Throws what `checkAddress` throws for an address that stands in the URL. */
export function toTarget({ url, ca, checkAddress }: Target): Outgoing {
  const options = urlToHttpOptions(new URL(url)) as RequestOptions;
  // No name is resolved for it.
  if (checkAddress !== undefined && isIP(options.hostname ?? '') !== 0) checkAddress(String(options.hostname));
  return {
    ...options,
    ...trusting(ca),
    agent: false,
    ...(checkAddress === undefined ? {} : { lookup: checked(checkAddress) }),
  };
}

/**
 * Sends a request and reads the answer, whatever its status.
 * Throws `LateAnswer`, `KeptConnectionClosed`, the reason of a signal that ended it, and what breaks the connection.
 */
export async function exchange(outgoing: Outgoing, limits: Limits): Promise<Answer> {
  const { withinMs, idleMs, signal } = limits;
  const late = withinMs === undefined ? undefined : AbortSignal.timeout(withinMs);
  const idle = idleMs === undefined ? undefined : new AbortController();
  const ends = [late, signal, idle?.signal].filter((end) => end !== undefined);
  const silence = idle === undefined ? undefined : { ms: Number(idleMs), end: () => idle.abort() };
  try {
    const [only, ...others] = ends;
    // One signal of several takes a tenth of the time of a short call.
    const end = only !== undefined && others.length === 0 ? only : AbortSignal.any(ends);
    const incoming = await send(outgoing, end, silence);
    const status = incoming.statusCode ?? 0;
    return { status, headers: incoming.headers, ...(await readUpTo(incoming, limits.mostBytes(status))) };
  } catch (error) {
    // What reads an answer is told no more than that it broke off.
    signal?.throwIfAborted();
    if (late?.aborted) throw new LateAnswer(`no answer within ${Number(withinMs) / 1000} s`);
    if (idle?.signal.aborted) throw new LateAnswer(`nothing came for ${Number(idleMs) / 1000} s`);
    throw error;
  }
}

/**
 * Returns an answer whose body is still to be read. Throws `KeptConnectionClosed`, the reason of `signal`, and what breaks the connection.
 * @param silence what is called when no byte came or went for so long
 */
export async function send(
  outgoing: Outgoing,
  signal: AbortSignal,
  silence?: { ms: number; end(): void },
): Promise<IncomingMessage> {
  signal.throwIfAborted();
  const { body, headers, ...options } = outgoing;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (options.protocol === 'https:' ? httpsRequest : httpRequest)(
    {
      ...options,
      signal,
      // Without its length some servers ignore the body of a DELETE.
      headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
    },
    resolve,
  );
  request.on('error', (error: NodeJS.ErrnoException) => {
    const isKept = request.reusedSocket && error.code === 'ECONNRESET';
    reject(isKept ? new KeptConnectionClosed(error.message, { cause: error }) : inWords(error));
  });
  if (silence !== undefined) request.setTimeout(silence.ms, silence.end);
  // Node tells this to a request only once it has a connection.
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  request.end(body);
  return await promise.finally(() => signal.removeEventListener('abort', abort));
}

/** Returns the bytes of an answer, or the first `most` of them. An answer that is cut loses its connection. */
export async function readUpTo(incoming: IncomingMessage, most: number): Promise<Pick<Answer, 'bytes' | 'isCut'>> {
  const chunks: Buffer[] = [];
  let size = 0;
  if (most === 0) {
    incoming.destroy();
    return { bytes: Buffer.alloc(0), isCut: true };
  }
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) break;
  }
  const bytes = Buffer.concat(chunks);
  return size > most ? { bytes: bytes.subarray(0, most), isCut: true } : { bytes, isCut: false };
}

/** Several addresses of a name that were all tried make an error without words of its own. */
function inWords(error: Error): Error {
  if (!(error instanceof AggregateError) || error.message !== '') return error;
  return new Error(error.errors.map(messageOf).join('; '), { cause: error });
}

/** Resolves a name, and refuses it when `check` throws for any of its addresses. */
function checked(check: (address: string) => void): LookupFunction {
  return (name, options, answer) => {
    resolveName(name, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return answer(error, '', 0);
      try {
        for (const { address } of addresses) check(address);
      } catch (refusal) {
        return answer(refusal as NodeJS.ErrnoException, '', 0);
      }
      const [first] = addresses;
      if (first === undefined) answer(new Error(`${name} has no address`), '', 0);
      else if (options.all) answer(null, addresses);
      else answer(null, first.address, first.family);
    });
  };
}
