import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Server } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { FastifyBaseLogger } from 'fastify';
import { messageOf } from '../../../domain/text/message-of.ts';
import type { TlsPair } from '../../shared/api-shared.ts';
import type { ApiServer } from '../api-server.ts';

/** Older ones are refused. */
const OLDEST = 'TLSv1.2';
/** Suites of TLS 1.2: keys that are forgotten, and encryption that is authenticated; those of TLS 1.3 all are so. */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':');

/** Time for a client to agree on keys, ms; nothing else is known of it until then. */
const HANDSHAKE_MS = 10_000;
/** How often the files are looked at, ms: renewals come days before the end. */
const LOOK_EVERY_MS = 10_000;

/**
 * What the framework's listener is made with: plain HTTP, or TLS of version 1.2 or newer. The framework's own type knows the
 * plain one only; both serve the same requests.
 */
export function listenerOptions(tls: TlsPair | undefined, maxHeaderSize: number): { http: HttpOptions } {
  // Node's own refusal of a request without Host has no body; the check of hosts says what is missing.
  const options: HttpOptions = { maxHeaderSize, requireHostHeader: false };
  if (tls === undefined) return { http: options };
  const secure = {
    https: { ...options, ...tls, minVersion: OLDEST, ciphers: CIPHERS, handshakeTimeout: HANDSHAKE_MS },
  };
  return secure as unknown as { http: HttpOptions };
}

interface HttpOptions {
  maxHeaderSize: number;
  requireHostHeader: boolean;
}

export interface TlsFiles {
  cert: string;
  key: string;
}

/**
 * Takes a renewed certificate while the server runs: new connections get it, open ones go on. Certificate and key are taken in one
 * step, once two looks have found the same: what is being written changes nothing. A pair that cannot be used (half written, key of
 * another certificate) is said and left; a later look may find it whole.
 * @returns ends the looking
 */
export function followTlsFiles(
  app: ApiServer,
  files: TlsFiles,
  current: TlsPair,
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>,
  everyMs = LOOK_EVERY_MS,
): () => void {
  const server: unknown = app.server;
  if (!(server instanceof Server)) return () => undefined;
  let used = current;
  let seen = current;
  let complained: string | undefined;
  const look = async () => {
    try {
      const [cert, key] = await Promise.all([readFile(files.cert, 'utf8'), readFile(files.key, 'utf8')]);
      const found = { cert, key };
      const settled = isSame(found, seen);
      seen = found;
      if (!settled || isSame(found, used)) return;
      checkPair(found);
      server.setSecureContext({ ...found, minVersion: OLDEST, ciphers: CIPHERS });
      used = found;
      complained = undefined;
      log.info({ file: files.cert }, 'the certificate was renewed');
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== complained) log.warn({ file: files.cert, reason }, 'the new certificate cannot be used');
      complained = reason;
    }
  };
  const timer = setInterval(() => void look(), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

function isSame(a: TlsPair, b: TlsPair): boolean {
  return a.cert === b.cert && a.key === b.key;
}

/**
 * An empty certificate or key has to be refused here: a secure context takes either without a word, and every handshake with it fails.
 * @throws {Error} when one of the two is not whole, or they do not belong together
 */
function checkPair({ cert, key }: TlsPair): void {
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new Error('the key is not the key of the certificate');
  }
  createSecureContext({ cert, key });
}
