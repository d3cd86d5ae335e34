import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { createServer, request as secureRequest } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { followTlsFiles } from '../../api/server/access/tls-listener.ts';
import type { ApiServer } from '../../api/server/api-server.ts';
import type { TlsPair } from '../../api/shared/api-shared.ts';
import { eventually } from '../support/eventually.ts';
import { selfSigned } from '../support/fakes/self-signed.ts';
import { createTestApp, type TestDependencies } from '../support/stack/test-api.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

let api: TokenApi;
let app: ApiServer;
let dir: string;
let pairs: Record<'ECDSA' | 'RSA' | 'renewed', TlsPair>;
beforeAll(async () => {
  api = await createTokenApi();
  dir = mkdtempSync(join(tmpdir(), 'muster-tls-'));
  pairs = { ECDSA: selfSigned('ECDSA'), RSA: selfSigned('RSA'), renewed: selfSigned('RSA') };
});
afterAll(async () => {
  await api.close();
  rmSync(dir, { recursive: true, force: true });
});
afterEach(() => app?.close());

async function portOf(server: Server): Promise<number> {
  if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function listen(more: Partial<TestDependencies>): Promise<number> {
  app = createTestApp({ ...api.deps, ...more });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return portOf(app.server);
}

/** The suite of version 1.2 that a client which knows just one agrees on; null: the handshake is refused. */
const agreed = (port: number, suite: string) =>
  new Promise<{ suite: string; print: string } | null>((resolve) => {
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false, maxVersion: 'TLSv1.2' as const };
    const socket = connect({ ...options, ciphers: `${suite}:@SECLEVEL=0` }, () => {
      resolve({ suite: socket.getCipher().name, print: socket.getPeerCertificate().fingerprint256 });
      socket.destroy();
    });
    socket.on('error', () => resolve(null));
  });

describe('suites of TLS 1.2', () => {
  test.each<['ECDSA' | 'RSA', string]>([
    ['ECDSA', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
    ['ECDSA', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
    ['RSA', 'ECDHE-RSA-AES256-GCM-SHA384'],
    ['RSA', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ])('a key of %s: %s is taken', async (kind, suite) => {
    const port = await listen({ tls: pairs[kind] });
    expect(await agreed(port, suite)).toMatchObject({ suite });
  });

  const REFUSED: ['ECDSA' | 'RSA', string][] = [
    ['ECDSA', 'ECDHE-ECDSA-AES128-SHA'],
    ['ECDSA', 'ECDHE-ECDSA-AES256-SHA384'],
    ['RSA', 'ECDHE-RSA-AES128-SHA'],
    ['RSA', 'ECDHE-RSA-AES256-SHA384'],
    ['RSA', 'AES128-SHA'],
    ['RSA', 'AES256-SHA256'],
    ['RSA', 'AES128-GCM-SHA256'],
  ];
  test.each(REFUSED)('a key of %s: %s is refused', async (kind, suite) => {
    // Another server takes it, so it is no lack of this client or key.
    const willing = createServer({ ...pairs[kind], ciphers: `${suite}:@SECLEVEL=0`, maxVersion: 'TLSv1.2' });
    expect(await agreed(await portOf(willing), suite)).toMatchObject({ suite });
    willing.close();
    expect(await agreed(await listen({ tls: pairs[kind] }), suite)).toBeNull();
  });

  test('are the same after the certificate was renewed', async () => {
    const files = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') };
    const port = await listen({ tls: pairs.RSA });
    const good = 'ECDHE-RSA-AES128-GCM-SHA256';
    const before = (await agreed(port, good))?.print;
    writeFileSync(files.cert, pairs.renewed.cert);
    writeFileSync(files.key, pairs.renewed.key);
    const stop = followTlsFiles(app, files, pairs.RSA, { info: () => undefined, warn: () => undefined } as never, 10);
    await eventually('the new certificate is used', async () => (await agreed(port, good))?.print !== before);
    stop();
    for (const suite of ['ECDHE-RSA-AES128-SHA', 'AES128-GCM-SHA256']) expect(await agreed(port, suite)).toBeNull();
  });
});

test('a browser is told to stay with TLS where it is on, and only there', async () => {
  const told = async (path: string, more: Partial<TestDependencies>, get: typeof plainRequest) => {
    const port = await listen(more);
    const options = { port, host: '127.0.0.1', path, rejectUnauthorized: false, agent: false as const };
    const { headers } = await new Promise<IncomingMessage>((resolve, reject) => {
      get(options, (response) => resolve(response.resume()))
        .on('error', reject)
        .end();
    });
    await app.close();
    return headers['strict-transport-security'];
  };
  // Refusals too: a browser's first request has no token.
  for (const path of ['/healthz', '/v3/options', '/nowhere']) {
    expect(await told(path, { tls: pairs.ECDSA }, secureRequest)).toBe('max-age=31536000');
    expect(await told(path, {}, plainRequest)).toBeUndefined();
  }
});
