import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { type AddressInfo, connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type SecureVersion } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { followTlsFiles } from '../../api/server/access/tls-listener.ts';
import type { ApiServer } from '../../api/server/api-server.ts';
import { revokeToken } from '../../control/access/revoke-token.ts';
import { eventually } from '../support/eventually.ts';
import { makeCertificates } from '../support/git/git-http-server.ts';
import { createTestApp, type TestDependencies } from '../support/stack/test-api.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

let api: TokenApi;
let app: ApiServer;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());
afterEach(() => app?.close());

async function listen(more: Partial<TestDependencies> = {}, host = '127.0.0.1'): Promise<number> {
  app = createTestApp({ ...api.deps, ...more });
  await app.listen({ host, port: 0 });
  return (app.server.address() as AddressInfo).port;
}

interface Asked {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}
function ask(port: number, token: string, more: { localAddress?: string; path?: string } = {}): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const { localAddress, path = '/v3/options' } = more;
    const headers = { authorization: `Bearer ${token}` };
    const options = {
      port,
      host: '127.0.0.1',
      path,
      headers,
      agent: false as const,
      ...(localAddress ? { localAddress } : {}),
    };
    const request = plainRequest(options, async (response) =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }),
    );
    request.on('error', reject).end();
  });
}

describe('many wrong tokens', () => {
  test('from one address are put off with Retry-After; a token known to be good is not', async () => {
    const port = await listen();
    expect((await ask(port, api.tokens.reader)).status).toBe(200);
    for (let index = 0; index < 11; index += 1) expect((await ask(port, `wrong${index}`)).status).toBe(401);
    // The time to wait may be over before the next one comes; each that was looked at makes it longer.
    const put = await eventually('a wrong one is put off', async () => {
      const answer = await ask(port, 'wrong');
      return answer.status === 429 && answer;
    });
    expect(put.headers['retry-after']).toMatch(/^[12]$/);
    expect(JSON.parse(put.body)).toMatchObject({ code: 'too_many_failures', title: 'Too Many Requests' });
    expect((await ask(port, api.tokens.operator)).status).toBe(200);
    expect((await ask(port, api.tokens.reader)).status).toBe(200);
    expect((await ask(port, 'none', { path: '/healthz' })).status).toBe(200);
    // The command line of this machine waits for 2 s at most.
    await eventually(
      'the other good token is let in',
      async () => (await ask(port, api.tokens.operator)).status === 200,
    );
  });

  test('that are no tokens, or requests without one, are answered as such', async () => {
    const port = await listen();
    for (let index = 0; index < 30; index += 1) {
      const answer = await fetch(`http://127.0.0.1:${port}/v3/options`);
      expect(answer.status).toBe(401);
    }
    expect((await ask(port, api.tokens.reader)).status).toBe(200);
  });

  test('do not reach the database', async () => {
    let lookups = 0;
    const db = new Proxy(api.deps.db, {
      get: (target, name, receiver) => {
        if (name === 'selectFrom') lookups += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    const port = await listen({ db });
    for (let index = 0; index < 15; index += 1) await ask(port, `muster_${index}`);
    expect(lookups).toBe(0);
  });
});

describe('an answer that lasts', () => {
  test('ends when its token is revoked, and only then', async () => {
    await api.as(api.tokens.operator, 'PUT', '/v3/configurations/c', {
      layers: [{ clone_url: 'https://git.example.test/a.git', playbook: 'site.yml', commit: 'a'.repeat(40) }],
    });
    expect(
      (await api.as(api.tokens.operator, 'POST', '/v3/sessions', { name: 'long', configuration_name: 'c' })).status,
    ).toBe(201);
    const port = await listen({ access: { mode: 'token', issuer: undefined, lookAgainMs: 20 } });
    const follow = async (name: string) => {
      const token = await api.make({ role: 'reader', name });
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/sessions/long/progress`, {
        headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
      });
      expect(response.status).toBe(200);
      let isOver = false;
      const reading = (async () => {
        for await (const _chunk of response.body ?? []);
      })();
      const over = reading.then(
        () => {
          isOver = true;
        },
        () => {
          isOver = true;
        },
      );
      return { over, isOver: () => isOver };
    };
    const [kept, cut] = [await follow('kept'), await follow('cut')];
    const clock = () => api.now.value;
    await revokeToken({ db: api.database.db, clock }, 'cut');
    await cut.over;
    expect(kept.isOver()).toBe(false);
    await revokeToken({ db: api.database.db, clock }, 'kept');
    await kept.over;
  });
});

describe('TLS', () => {
  let dir: string;
  let first: ReturnType<typeof makeCertificates>;
  let second: ReturnType<typeof makeCertificates>;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'muster-tls-'));
    first = makeCertificates(join(dir, 'first'));
    second = makeCertificates(join(dir, 'second'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  const handshake = (port: number, maxVersion: SecureVersion = 'TLSv1.3') =>
    new Promise<{ version: string | null; print: string }>((resolve, reject) => {
      const options = { port, host: '127.0.0.1', rejectUnauthorized: false, minVersion: 'TLSv1' as const, maxVersion };
      const socket = connect({ ...options, ciphers: 'DEFAULT@SECLEVEL=0' }, () => {
        resolve({ version: socket.getProtocol(), print: socket.getPeerCertificate().fingerprint256 });
        socket.destroy();
      });
      socket.on('error', reject);
    });

  test('serves the same API, knows that it is TLS, and answers nothing in the clear', async () => {
    const port = await listen({ tls: first.tls });
    const origin = (value: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${api.tokens.operator}`,
          'content-type': 'application/json',
          origin: value,
          'x-filler': 'x'.repeat(100_000),
        };
        const options = { port, host: 'localhost', method: 'PATCH', path: '/v3/options', headers, ca: first.tls.cert };
        const request = secureRequest({ ...options, rejectUnauthorized: false, family: 4 }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        request.on('error', reject).end('{}');
      });
    expect(await origin(`https://localhost:${port}`)).toBe(200);
    expect(await origin(`http://localhost:${port}`)).toBe(403);
    await expect(ask(port, api.tokens.reader)).rejects.toThrow();
  });

  test.each<[SecureVersion, boolean]>([
    ['TLSv1', false],
    ['TLSv1.1', false],
    ['TLSv1.2', true],
    ['TLSv1.3', true],
  ])('%s is spoken: %s', async (version, spoken) => {
    const port = await listen({ tls: first.tls });
    const answer = await handshake(port, version).then(
      ({ version: used }) => used,
      () => 'refused',
    );
    expect(answer).toBe(spoken ? version : 'refused');
  });

  test('takes a renewed certificate, not half of one, and says which file is wrong once', async () => {
    const files = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') };
    // Each file as a whole at once: a look between would find, and tell of, something else than what the test leaves there.
    const write = (cert: string, key: string) => {
      for (const [file, text] of [
        [files.cert, cert],
        [files.key, key],
      ] as const) {
        writeFileSync(`${file}.new`, text);
        renameSync(`${file}.new`, file);
      }
    };
    write(first.tls.cert, first.tls.key);
    const port = await listen({ tls: first.tls });
    const told: string[] = [];
    const log = {
      info: (_: object, line: string) => told.push(line),
      warn: ({ reason }: { reason: string }) => told.push(reason),
    };
    const stop = followTlsFiles(app, files, first.tls, log as never, 10);
    const before = (await handshake(port)).print;
    const leaves = async (cert: string, key: string) => {
      const said = told.length;
      write(cert, key);
      await eventually('what is wrong is said', () => told.length > said);
      expect((await handshake(port)).print).toBe(before);
    };
    await leaves(second.tls.cert, first.tls.key);
    expect(told).toEqual(['the key is not the key of the certificate']);
    // What a reader finds of a file that is just being written: a context would take it, and fail every handshake.
    await leaves(second.tls.cert, '');
    await leaves('', first.tls.key);
    await leaves(second.tls.cert.slice(0, 300), second.tls.key);
    const said = told.length;
    write(second.tls.cert, second.tls.key);
    await eventually('the new one is used', async () => (await handshake(port)).print !== before);
    expect(told.slice(said)).toContain('the certificate was renewed');
    stop();
  });

  test('a client that never shakes hands holds nobody up', async () => {
    const port = await listen({ tls: first.tls });
    const silent = connectPlain(port, '127.0.0.1');
    expect((await handshake(port)).version).toBe('TLSv1.3');
    silent.destroy();
  });
});
