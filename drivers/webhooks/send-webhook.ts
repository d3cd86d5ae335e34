import type { IncomingMessage } from 'node:http';
import { readUpTo, send, toTarget } from '../http/exchange.ts';
import { isPrivateAddress } from './private-addresses.ts';

export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  allowPrivateRedirects: boolean;
  signal: AbortSignal;
}

export interface WebhookAnswer {
  status: number;
  /** Seconds that the receiver asks for before the next try; 0 when it says nothing. */
  retryAfter: number;
}

/** For one exchange from connection to last byte, ms. */
const TIMEOUT_MS = 10_000;
/** Of an answer so much is read, bytes; nothing of it is kept. */
const ANSWER_MAX = 64 * 1024;
const REDIRECTS = 3;
/** Those that repeat the request with method and body. */
const REPEATING = [307, 308];

/**
 * Sends a request by POST and answers the receiver's status. The first address is whoever made the webhook's choice; a
 * redirect is the receiver's, so it is followed with the body only (307, 308), three times at most, never from https to http, and to
 * public addresses unless others are allowed. The address is looked at when the connection is made, so no name can change
 * in between. Certificates in `ca` (PEM) are trusted besides the public ones. Throws an Error whose message says what was wrong.
 */
export function createWebhookSender({ ca }: { ca?: string | undefined }) {
  return {
    async send({ url, allowPrivateRedirects, ...message }: WebhookRequest): Promise<WebhookAnswer> {
      let target: URL = new URL(url);
      for (let hop = 0; ; hop += 1) {
        const onlyPublic = hop > 0 && !allowPrivateRedirects;
        const { statusCode: status = 0, headers } = await post(target, message, { ca, onlyPublic });
        if (status < 300 || status > 399) return { status, retryAfter: secondsOf(headers['retry-after']) };
        if (!REPEATING.includes(status)) throw new Error(`redirects with ${status}, which would lose the body`);
        if (hop === REDIRECTS) throw new Error(`redirects more than ${REDIRECTS} times`);
        target = redirected(target, headers.location);
      }
    },
  };
}

function redirected(from: URL, location: string | undefined): URL {
  const to = URL.parse(location ?? '', from.href);
  if (to === null || location === undefined) throw new Error('redirects to nowhere');
  if (!/^https?:$/.test(to.protocol)) throw new Error(`redirects to ${to.protocol}, which is not followed`);
  if (from.protocol === 'https:' && to.protocol === 'http:') throw new Error('redirects from https to http');
  return to;
}

async function post(
  url: URL,
  { headers, body, signal }: Pick<WebhookRequest, 'headers' | 'body' | 'signal'>,
  { ca, onlyPublic }: { ca: string | undefined; onlyPublic: boolean },
): Promise<IncomingMessage> {
  const checkAddress = (address: string) => {
    if (isPrivateAddress(address)) throw privateRedirect(url.hostname.replace(/^\[|\]$/g, ''));
  };
  const target = toTarget({ url, ca, checkAddress: onlyPublic ? checkAddress : undefined });
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const answer = await send({ ...target, method: 'POST', headers, body }, AbortSignal.any([signal, timeout]));
    // The status is all that counts, also of an answer that breaks off or has no end.
    await readUpTo(answer, ANSWER_MAX).catch(() => undefined);
    return answer;
  } catch (error) {
    throw timeout.aborted ? new Error(`no answer within ${TIMEOUT_MS / 1_000} s`) : error;
  }
}

function privateRedirect(host: string): Error {
  return new Error(`redirects to ${host}, which is a private address: allow_private_redirects is not set`);
}

function secondsOf(retryAfter: string | undefined): number {
  return /^[0-9]{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : 0;
}
