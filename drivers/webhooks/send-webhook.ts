import { lookup as resolveName } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { trusting } from '../certificates/trusting.ts';
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

function post(
  url: URL,
  { headers, body, signal }: Pick<WebhookRequest, 'headers' | 'body' | 'signal'>,
  { ca, onlyPublic }: { ca: string | undefined; onlyPublic: boolean },
): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (onlyPublic && isIP(host) !== 0 && isPrivateAddress(host)) throw privateRedirect(host);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(timeout.aborted ? new Error(`no answer within ${TIMEOUT_MS / 1_000} s`) : error);
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const options = {
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      agent: false,
      signal: AbortSignal.any([signal, timeout]),
      ...trusting(ca),
      ...(onlyPublic ? { lookup: lookupPublic } : {}),
    };
    const request = send(url, options, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        // The status is all that counts.
        if (bytes > ANSWER_MAX) response.destroy();
      });
      response.on('error', () => undefined);
      response.on('close', () => resolve(response));
    });
    request.on('error', fail);
    request.end(body);
  });
}

/** Resolves a name and refuses it when any of its addresses is private. */
const lookupPublic: LookupFunction = (name, options, answer) => {
  resolveName(name, { ...options, all: true }, (error, addresses) => {
    const hidden = addresses?.find(({ address }) => isPrivateAddress(address));
    const [first] = addresses ?? [];
    if (error !== null) answer(error, '', 0);
    else if (hidden !== undefined || first === undefined) answer(privateRedirect(name), '', 0);
    else if (options.all) answer(null, addresses);
    else answer(null, first.address, first.family);
  });
};

function privateRedirect(host: string): Error {
  return new Error(`redirects to ${host}, which is a private address: allow_private_redirects is not set`);
}

function secondsOf(retryAfter: string | undefined): number {
  return /^[0-9]{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : 0;
}
