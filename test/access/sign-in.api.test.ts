import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { createTestApp } from '../support/stack/test-api.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

const HOUR = 3_600_000;
const START = new Date('2026-11-21T10:00:00Z');

let api: TokenApi;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());
beforeEach(() => {
  api.now.value = START;
});

const pass = (ms: number) => {
  api.now.value = new Date(api.now.value.getTime() + ms);
};
const post = (token: string, headers: Record<string, string> = {}) =>
  api.call('POST', '/api/v1/sign-in', { token }, headers);

/** Signs in; returns the pair that a browser sends back, and the whole header. */
async function signIn(token: string) {
  const answer = await post(token);
  expect(answer.status).toBe(200);
  const header = String(answer.headers['set-cookie']);
  return { answer, header, cookie: header.split(';')[0] ?? '' };
}
const withCookie = (cookie: string, method = 'GET', url = '/api/v1/me', body?: unknown) =>
  api.call(method, url, body, { cookie });

describe('signing in', () => {
  test('a token becomes a cookie, which has the rights of the token', async () => {
    const { answer, cookie } = await signIn(api.tokens.reader);
    expect(answer.body).toEqual({ name: 'token/eyes', role: 'reader', expires_at: '2026-11-21T22:00:00Z' });
    expect(answer.headers['cache-control']).toBe('no-store');
    const me = await withCookie(cookie);
    expect(me.body).toMatchObject({
      name: 'token/eyes',
      kind: 'sign-in',
      role: 'reader',
      expires_at: '2026-11-21T22:00:00Z',
    });
    expect(me.body.lanes).toEqual(expect.arrayContaining(['components', 'sessions', 'fleet']));
    expect((await withCookie(cookie, 'GET', '/v3/options')).status).toBe(200);
    const refused = await withCookie(cookie, 'PATCH', '/v3/options', { batch_size: 3 });
    expect(refused.body).toMatchObject({ status: 403, code: 'forbidden' });
  });

  test('what an operator writes is recorded as the token’s', async () => {
    const { cookie } = await signIn(api.tokens.operator);
    expect((await withCookie(cookie, 'PUT', '/v3/configurations/signed', { layers: [] })).status).toBe(200);
    const row = await api.database.db
      .selectFrom('configurations')
      .select('actor')
      .where('name', '=', 'signed')
      .executeTakeFirst();
    expect(row).toEqual({ actor: 'token/ops' });
  });

  test('the cookie is for this site alone and for no script', async () => {
    const { header } = await signIn(api.tokens.reader);
    expect(header).toMatch(
      /^muster-[0-9a-f-]{36}=mustersign_[0-9A-Za-z]{49}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
    );
  });

  test.each([
    [
      'https://muster.example',
      /^__Host-muster-[0-9a-f-]{36}=[^;]+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
    ],
    [
      'https://muster.example/fleet',
      /^muster-[0-9a-f-]{36}=[^;]+; Path=\/fleet\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
    ],
    [
      'http://muster.example/fleet',
      /^muster-[0-9a-f-]{36}=[^;]+; Path=\/fleet\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
    ],
  ])('at %s it says so', async (publicUrl, wanted) => {
    const app = createTestApp({ ...api.deps, publicUrl });
    const sent = { method: 'POST', url: '/api/v1/sign-in', payload: { token: api.tokens.reader } } as const;
    const answer = await app.inject(sent);
    expect(answer.headers['set-cookie']).toMatch(wanted);
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
    expect((await app.inject({ url: '/api/v1/me', headers: { cookie } })).statusCode).toBe(200);
    await app.close();
  });

  test('stored are hashes alone', async () => {
    const { cookie } = await signIn(api.tokens.reader);
    const secret = cookie.slice(cookie.indexOf('=') + 1);
    const rows = await api.database.db.selectFrom('sign_ins').selectAll().execute();
    expect(rows.length).toBeGreaterThan(0);
    const all = JSON.stringify(rows) + JSON.stringify(api.logged);
    for (const one of [secret, secret.slice('mustersign_'.length), api.tokens.reader]) expect(all).not.toContain(one);
  });

  test.each([
    ['no token at all', 'nothing'],
    ['a cookie’s value', 'mustersign_'],
    ['a token of an issuer', 'eyJhbGciOiJub25lIn0.eyJhIjoxfQ.x'],
  ])('%s is 401', async (_what, token) => {
    const sent = token === 'mustersign_' ? (await signIn(api.tokens.reader)).cookie.split('=')[1] : token;
    const answer = await post(sent ?? '');
    expect(answer.body).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  test('a node cannot', async () => {
    const answer = await post(api.tokens.node);
    expect(answer.body).toMatchObject({ status: 403, code: 'forbidden' });
    expect(answer.body.detail).toBe('A token of the role node cannot sign in');
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  test.each([[{}], [{ token: 1 }], [{ token: '' }], [{ token: 'a', more: 1 }], [[]], ['{']])(
    'the body %j is 400',
    async (body) => {
      expect((await api.call('POST', '/api/v1/sign-in', body)).status).toBe(400);
    },
  );

  test.each([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'http://localhost:81' }],
    [{ origin: 'null' }],
  ])('a page of another site (%j) neither signs in, nor out, nor writes', async (foreign) => {
    const { cookie } = await signIn(api.tokens.admin);
    const headers = { ...foreign, cookie, host: 'localhost:80' };
    const paths = [
      ['POST', '/api/v1/sign-in', { token: api.tokens.admin }],
      ['POST', '/api/v1/sign-out', undefined],
      ['PATCH', '/v3/options', { batch_size: 4 }],
    ] as const;
    for (const [method, url, body] of paths) {
      const answer = await api.call(method, url, body, headers);
      expect(answer.body).toMatchObject({ status: 403, code: 'cross_site' });
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    expect((await withCookie(cookie)).status).toBe(200);
  });

  test('wrong ones count with wrong bearers; old cookies do not', async () => {
    const own = await createTokenApi();
    const { cookie } = await (async () => {
      const answer = await own.call('POST', '/api/v1/sign-in', { token: own.tokens.reader });
      return { cookie: String(answer.headers['set-cookie']).split(';')[0] ?? '' };
    })();
    await own.call('POST', '/api/v1/sign-out', undefined, { cookie });
    for (let times = 0; times < 30; times += 1) {
      expect((await own.call('GET', '/api/v1/me', undefined, { cookie })).status).toBe(401);
    }
    for (let times = 0; times < 5; times += 1) {
      expect((await own.call('POST', '/api/v1/sign-in', { token: `wrong${times}` })).status).toBe(401);
      expect((await own.as(`wrong${times}`, 'GET', '/v3/options')).status).toBe(401);
    }
    // The time to wait may be over before the next one comes; each that was looked at makes it longer.
    await eventually('a bearer is put off', async () => (await own.as('wrong', 'GET', '/v3/options')).status === 429);
    const late = await eventually('a sign-in is put off', async () => {
      const answer = await own.call('POST', '/api/v1/sign-in', { token: 'wrong' });
      return answer.status === 429 && answer;
    });
    expect(late.body).toMatchObject({ code: 'too_many_failures' });
    expect(late.headers['retry-after']).toMatch(/^[12]$/);
    // The right one is let in all the same.
    expect((await own.call('POST', '/api/v1/sign-in', { token: own.tokens.reader })).status).toBe(200);
    await own.close();
  });
});

describe('a sign-in', () => {
  test('ends after 12 h without use', async () => {
    const { cookie } = await signIn(api.tokens.reader);
    pass(11 * HOUR);
    expect((await withCookie(cookie)).status).toBe(200);
    await noted(cookie);
    pass(11 * HOUR);
    expect((await withCookie(cookie)).status).toBe(200);
    await noted(cookie);
    pass(12 * HOUR);
    const answer = await withCookie(cookie);
    expect(answer.body).toMatchObject({ status: 401, detail: 'Your sign-in is over: sign in again' });
  });

  test('ends after 7 days in any case', async () => {
    const { cookie } = await signIn(api.tokens.reader);
    for (let hours = 0; hours < 7 * 24 - 8; hours += 8) {
      pass(8 * HOUR);
      expect((await withCookie(cookie)).status).toBe(200);
      await noted(cookie);
    }
    pass(8 * HOUR);
    expect((await withCookie(cookie)).status).toBe(401);
  });

  test('ends with its token: revoked, or expired', async () => {
    const revoked = await signIn(await api.make({ role: 'reader', name: 'revoked' }));
    expect((await withCookie(revoked.cookie)).status).toBe(200);
    expect((await api.as(api.tokens.admin, 'DELETE', '/api/v1/tokens/revoked')).status).toBe(204);
    expect((await withCookie(revoked.cookie)).status).toBe(401);
    const short = await signIn(await api.make({ role: 'reader', name: 'short', expires_in: 3_600 }));
    expect(short.answer.body.expires_at).toBe('2026-11-21T11:00:00Z');
    pass(HOUR);
    expect((await withCookie(short.cookie)).status).toBe(401);
  });

  test('ends at sign-out, and the browser forgets it; others go on', async () => {
    const [one, other] = [await signIn(api.tokens.reader), await signIn(api.tokens.reader)];
    const out = await withCookie(one.cookie, 'POST', '/api/v1/sign-out');
    expect(out.status).toBe(204);
    expect(out.headers['set-cookie']).toMatch(/=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/);
    expect((await withCookie(one.cookie)).status).toBe(401);
    expect((await withCookie(other.cookie)).status).toBe(200);
    expect((await api.as(api.tokens.reader, 'GET', '/v3/options')).status).toBe(200);
    // Again, and without any.
    expect((await withCookie(one.cookie, 'POST', '/api/v1/sign-out')).status).toBe(204);
    expect((await api.call('POST', '/api/v1/sign-out')).status).toBe(204);
  });

  test('comes after a bearer', async () => {
    const { cookie } = await signIn(api.tokens.admin);
    const me = await api.as(api.tokens.reader, 'GET', '/api/v1/me', undefined, { cookie });
    expect(me.body).toMatchObject({ name: 'token/eyes', kind: 'token', role: 'reader', expires_at: null });
    expect((await api.as('wrong', 'GET', '/api/v1/me', undefined, { cookie })).status).toBe(401);
  });

  test('is worth nothing as a bearer, nor a token as a cookie', async () => {
    const { cookie } = await signIn(api.tokens.admin);
    const [name = '', secret = ''] = cookie.split('=');
    expect((await api.as(secret, 'GET', '/api/v1/me')).status).toBe(401);
    expect((await withCookie(`${name}=${api.tokens.admin}`)).status).toBe(401);
    expect((await withCookie(`muster-11111111-2222-4333-8444-555555555555=${secret}`)).status).toBe(401);
    expect((await withCookie(`a=b; ${cookie}; c=d`)).status).toBe(200);
  });

  test('and its end are in the audit', async () => {
    const { cookie } = await signIn(api.tokens.operator);
    await withCookie(cookie, 'POST', '/api/v1/sign-out');
    const { body } = await api.as(api.tokens.admin, 'GET', '/api/v1/audit?kind=sign-in&limit=2');
    expect(body.records ?? body.audit).toEqual([
      expect.objectContaining({
        action: 'sign-out',
        actor: 'token/ops',
        name: 'token/ops',
        via: 'POST /api/v1/sign-out',
      }),
      expect.objectContaining({
        action: 'sign-in',
        actor: 'token/ops',
        name: 'token/ops',
        via: 'POST /api/v1/sign-in',
      }),
    ]);
  });
});

/** Waits until the use of now is noted. */
async function noted(_cookie: string): Promise<void> {
  for (;;) {
    const row = await api.database.db
      .selectFrom('sign_ins')
      .select('id')
      .where('last_used_at', '=', api.now.value)
      .executeTakeFirst();
    if (row !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('what is open: how to sign in, and nothing else', async () => {
  expect((await api.call('GET', '/api/v1/sign-in')).body).toEqual({ mode: 'token', methods: ['token'] });
  expect((await api.call('GET', '/api/v1/me')).status).toBe(401);
  expect((await api.call('GET', '/api/v1/fleet')).status).toBe(401);
});

test('without access control there is nothing to sign in to', async () => {
  const app = createTestApp({ ...api.deps, access: { mode: 'none', actorHeader: 'x-user' } });
  expect((await app.inject('/api/v1/sign-in')).json()).toEqual({ mode: 'none', methods: [] });
  const sent = await app.inject({ method: 'POST', url: '/api/v1/sign-in', payload: { token: api.tokens.admin } });
  expect(sent.json()).toMatchObject({ status: 403, code: 'forbidden' });
  expect((await app.inject('/api/v1/me')).json()).toMatchObject({
    name: null,
    kind: 'none',
    role: 'admin',
    expires_at: null,
  });
  const named = await app.inject({ url: '/api/v1/me', headers: { 'x-user': 'alice' } });
  expect(named.json()).toMatchObject({ name: 'alice', kind: 'header' });
  await app.close();
});
