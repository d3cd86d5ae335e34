/** The cookie of a sign-in behind the API's own TLS. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ApiServer } from '../../api/server/api-server.ts';
import { makeCertificates } from '../support/git/git-http-server.ts';
import { createTestApp } from '../support/stack/test-api.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

let api: TokenApi;
let app: ApiServer;
let dir: string;
let ca: string;
let port: number;
beforeAll(async () => {
  api = await createTokenApi();
  dir = mkdtempSync(join(tmpdir(), 'muster-test-sign-in-'));
  const { caFile, tls } = makeCertificates(dir);
  ca = readFileSync(caFile, 'utf8');
  app = createTestApp({ ...api.deps, tls, publicUrl: 'https://127.0.0.1' });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as AddressInfo).port;
});
afterAll(async () => {
  await app.close();
  await api.close();
  rmSync(dir, { recursive: true, force: true });
});

interface Got {
  status: number | undefined;
  setCookie: string;
  body: string;
}
const ask = (method: string, path: string, headers: Record<string, string>, body?: object) =>
  new Promise<Got>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, ca, agent: false }, async (answer) => {
      const setCookie = answer.headers['set-cookie']?.join() ?? '';
      resolve({ status: answer.statusCode, setCookie, body: await text(answer) });
    });
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });

test('it is for secure connections alone, of this host alone, and lets its user in', async () => {
  const json = { 'content-type': 'application/json' };
  const signedIn = await ask('POST', '/api/v1/sign-in', json, { token: api.tokens.reader });
  expect(signedIn.status).toBe(200);
  expect(signedIn.setCookie).toMatch(
    /^__Host-muster-[0-9a-f-]{36}=[^;]+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
  );
  const cookie = signedIn.setCookie.split(';')[0] ?? '';
  const me = await ask('GET', '/api/v1/me', { cookie });
  expect([me.status, JSON.parse(me.body).name]).toEqual([200, 'token/eyes']);
  const out = await ask('POST', '/api/v1/sign-out', { cookie });
  expect([out.status, out.setCookie]).toEqual([204, expect.stringMatching(/^__Host-.*Max-Age=0; .*Secure$/)]);
  expect((await ask('GET', '/api/v1/me', { cookie })).status).toBe(401);
});
