import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { exportSPKI, importJWK, SignJWT } from 'jose';
import type { ApiServer } from '../../api/server/api-server.ts';
import type { ClaimRules } from '../../domain/access/claims.ts';
import { createJwtVerifier } from '../../drivers/oidc/verify-jwt.ts';
import { AUDIENCE, type OidcIssuer, startOidcIssuer } from '../support/fakes/oidc-issuer.ts';
import { createTestApp } from '../support/stack/test-api.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

const RULES: ClaimRules = { rolesClaim: 'roles', roleMap: undefined, componentClaim: 'component' };

let issuer: OidcIssuer;
let api: TokenApi;
let now: number;
let app: ApiServer;

beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  issuer = await startOidcIssuer();
  now = Date.now();
});
afterEach(async () => {
  await app.close();
  await issuer.close();
});

/** An API of its own with an issuer; time goes as the test says. */
async function start(rules: Partial<ClaimRules> = {}, more: Partial<Parameters<typeof createJwtVerifier>[0]> = {}) {
  const verify = createJwtVerifier({
    issuer: issuer.url,
    audience: [AUDIENCE],
    jwksUrl: undefined,
    ca: undefined,
    timeoutMs: 30_000,
    now: () => now,
    ...more,
  });
  app = createTestApp({ ...api.deps, access: { mode: 'token', issuer: { verify, rules: { ...RULES, ...rules } } } });
}
async function ask(token: string, method: 'GET' | 'PUT' | 'PATCH' = 'GET', url = '/v3/options', body?: object) {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await app.inject({ method, url, headers, ...(body === undefined ? {} : { payload: body }) });
  return { status: answer.statusCode, body: answer.json(), headers: answer.headers };
}
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a token of the issuer', () => {
  beforeEach(() => start());

  test('lets its user in with the role of its claim', async () => {
    const reader = await issuer.sign({ preferred_username: 'alice' });
    expect((await ask(reader)).status).toBe(200);
    expect((await ask(reader, 'PATCH', '/v3/options', {})).status).toBe(403);
    const operator = await issuer.sign({ preferred_username: 'alice', roles: ['reader', 'operator', 'else'] });
    expect((await ask(operator, 'PUT', '/v3/configurations/c', { layers: [] })).status).toBe(200);
    const row = await api.database.db.selectFrom('configurations').select('actor').executeTakeFirst();
    expect(row).toEqual({ actor: 'oidc/alice' });
    expect(issuer.asked()).toBe(1);
  });

  test.each(['RS256', 'PS256', 'ES384', 'EdDSA'])('may be signed by %s', async (alg) => {
    issuer.keys = [await issuer.makeKey('other', alg)];
    expect((await ask(await issuer.sign())).status).toBe(200);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['for another audience', { aud: 'somebody-else' }, /'aud'/],
    ['for no audience', { aud: undefined }, /'aud'/],
    ['of another issuer', { iss: 'https://issuer.example' }, /not of the issuer/],
    ['of nobody', { iss: undefined }, /not of the issuer/],
    ['that expired', { exp: Math.floor(Date.now() / 1000) - 31 }, /expired/],
    ['without end', { exp: undefined }, /'exp'/],
    ['whose end is a word', { exp: 'never' }, /'exp'/],
    ['that begins later', { nbf: Math.floor(Date.now() / 1000) + 86_400 }, /'nbf'/],
  ])('%s is 401', async (_what, claims, words) => {
    const answer = await ask(await issuer.sign(claims));
    expect(answer.body).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(answer.body.detail).toMatch(words);
  });

  test('clocks may differ a little', async () => {
    const seconds = Math.floor(now / 1000);
    expect((await ask(await issuer.sign({ exp: seconds - 20 }))).status).toBe(200);
    expect((await ask(await issuer.sign({ nbf: seconds + 20 }))).status).toBe(200);
  });

  test('among several audiences ours is enough', async () => {
    expect((await ask(await issuer.sign({ aud: ['other', AUDIENCE] }))).status).toBe(200);
  });

  test.each<[string, Record<string, unknown>]>([
    ['no role', { roles: [] }],
    ['no claim', { roles: undefined }],
    ['another word', { roles: ['administrator'] }],
    ['a role in other letters', { roles: ['Admin'] }],
    ['a name of an object', { roles: ['constructor', '__proto__'] }],
    ['an object', { roles: { admin: true } }],
    ['no user', { sub: undefined }],
    // An actor stands in audit records and idempotency keys as KIND/NAME: a name with a slash could be that of a token.
    ['a user with a slash in its name', { sub: '../token/t-admin' }],
    ['a user with a slash in both names', { sub: 'a/b', preferred_username: 'token/t-admin' }],
    ['a node without component', { roles: ['node'] }],
  ])('with %s is 403', async (_what, claims) => {
    expect((await ask(await issuer.sign(claims))).body).toMatchObject({ status: 403, code: 'forbidden' });
  });

  test('of a node speaks for its component', async () => {
    const token = await issuer.sign({ roles: 'node', component: 'x1' });
    expect((await ask(token, 'PATCH', '/v3/components/x1', { enabled: true })).status).toBe(404);
    expect((await ask(token, 'PATCH', '/v3/components/x2', { enabled: true })).status).toBe(403);
  });

  test('a user name that cannot be shown is not used', async () => {
    for (const preferred_username of ['a\nb', '', 'x'.repeat(300), 7, '../token/t-admin', 'token/t-admin', '/']) {
      const token = await issuer.sign({ roles: ['operator'], preferred_username });
      await ask(token, 'PUT', '/v3/configurations/c', { layers: [] });
      const row = await api.database.db.selectFrom('configurations').select('actor').executeTakeFirst();
      expect(row).toEqual({ actor: 'oidc/u1' });
    }
  });
});

describe('a forged token', () => {
  beforeEach(() => start());

  const refused = async (token: string) => {
    const answer = await ask(token);
    expect([answer.status, answer.body.code]).toEqual([401, 'unauthenticated']);
  };
  const claims = () => ({
    iss: issuer.url,
    aud: AUDIENCE,
    sub: 'eve',
    exp: Math.floor(now / 1000) + 60,
    roles: ['admin'],
  });

  test('without signature is refused, in every spelling of none', async () => {
    for (const alg of ['none', 'None', 'NONE', '']) {
      await refused(`${part({ alg })}.${part(claims())}.`);
      await refused(`${part({ alg, kid: 'first' })}.${part(claims())}.AAAA`);
    }
    await refused(`${part({ kid: 'first' })}.${part(claims())}.AAAA`);
  });

  test('signed with the public key as a password is refused', async () => {
    const jwk = issuer.keys[0]?.publicJwk ?? {};
    const pem = await exportSPKI((await importJWK({ ...jwk, ext: true }, 'ES256', { extractable: true })) as never);
    for (const secret of [pem, pem.trim(), JSON.stringify(jwk)]) {
      for (const [alg, hash] of [
        ['HS256', 'sha256'],
        ['HS512', 'sha512'],
      ] as const) {
        const text = `${part({ alg, kid: 'first' })}.${part(claims())}`;
        await refused(`${text}.${createHmac(hash, secret).update(text).digest('base64url')}`);
      }
    }
  });

  test('signed by a key of its own is refused, also when it brings that key along', async () => {
    const own = await issuer.makeKey('first');
    await refused(await issuer.sign({ roles: ['admin'] }, {}, own));
    for (const header of [{ jwk: own.publicJwk }, { jku: `${issuer.url}/evil` }, { x5u: `${issuer.url}/evil` }]) {
      await refused(await issuer.sign({ roles: ['admin'] }, header, own));
    }
    const asks = await new SignJWT(claims()).setProtectedHeader({ alg: 'ES256' }).sign(own.privateKey);
    await refused(asks);
  });

  test('with a claim or the signature changed is refused', async () => {
    const [head, body, signature = ''] = (await issuer.sign()).split('.');
    await refused(`${head}.${part(claims())}.${signature}`);
    await refused(`${head}.${body}.${signature.slice(0, -4)}AAAA`);
    await refused(`${head}.${body}.`);
  });

  test('that is garbage, huge or critical is refused', async () => {
    await refused('e30.e30.e30');
    await refused('AAAA.AAAA.AAAA');
    await refused(`${part({ alg: 'ES256', kid: 'first' })}.${part('text')}.AAAA`);
    await refused(`${part({ alg: 'ES256', kid: 'first', crit: ['x'], x: 1 })}.${part(claims())}.AAAA`);
    await refused(await issuer.sign({ padding: 'x'.repeat(20_000) }));
    await refused(await issuer.sign({}, { kid: 'x'.repeat(9_000) }));
  });

  test('never makes us ask the issuer more than now and then', async () => {
    await ask(await issuer.sign());
    const other = await issuer.makeKey('unknown');
    for (let index = 0; index < 5; index += 1) await refused(await issuer.sign({}, { kid: `k${index}` }, other));
    expect(issuer.asked()).toBe(1);
  });
});

describe('keys', () => {
  test('that are rotated are found; old ones go when the issuer takes them away', async () => {
    await start();
    const old = await issuer.sign();
    expect((await ask(old)).status).toBe(200);
    issuer.keys = [await issuer.makeKey('second')];
    const renewed = await issuer.sign();
    expect((await ask(renewed)).status).toBe(401);
    now += 10_000;
    expect((await ask(renewed)).status).toBe(200);
    expect((await ask(old)).status).toBe(401);
    expect(issuer.asked()).toBe(2);
  });

  test('are looked at again after a while without anybody waiting', async () => {
    await start();
    const old = await issuer.sign();
    await ask(old);
    issuer.keys = [await issuer.makeKey('second')];
    now += 600_000;
    const long = await issuer.sign({ exp: Math.floor(now / 1000) + 60 });
    expect((await ask(long)).status).toBe(200);
  });

  test('that are known go on to be used while the issuer is away', async () => {
    await start();
    const token = await issuer.sign({ exp: Math.floor(now / 1000) + 3_000 });
    expect((await ask(token)).status).toBe(200);
    const unknown = await issuer.sign({}, { kid: 'newer' });
    await issuer.close();
    now += 700_000;
    expect((await ask(token)).status).toBe(200);
    const answer = await ask(unknown);
    expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([503, 'issuer_unavailable', '2']);
    expect((await ask(token)).status).toBe(200);
    await issuer.listenAgain();
  });

  test.each<[string, (response: import('node:http').ServerResponse) => void, timeoutMs?: number]>([
    // These alone wait for it to be over; what is answered in the end must come within it too.
    ['hangs', () => undefined, 4_000],
    ['hangs in the middle', (response) => void response.writeHead(200).write('{"keys":'), 4_000],
    ['fails', (response) => void response.writeHead(500).end()],
    ['sends elsewhere', (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['answers no JSON', (response) => void response.end('<html>')],
    ['answers something else', (response) => void response.end('{"keys": "none"}')],
    ['answers without end', (response) => void response.end('x'.repeat(2_000_000))],
    ['breaks off', (response) => void response.destroy()],
  ])('of an issuer that %s: 503, and Muster tokens still work', async (_what, answerKeys, timeoutMs = 30_000) => {
    await start({}, { timeoutMs });
    issuer.answerKeys = answerKeys;
    const token = await issuer.sign();
    const answers = await Promise.all([ask(token), ask(token), ask(token)]);
    expect(answers.map(({ body }) => body.code)).toEqual(Array(3).fill('issuer_unavailable'));
    expect(answers[0]?.status).toBe(503);
    expect(issuer.asked()).toBe(1);
    expect((await ask(api.tokens.reader)).status).toBe(200);
    expect((await ask(await issuer.sign({ iss: 'other' }))).status).toBe(401);
    issuer.answerKeys = undefined;
    now += 10_000;
    expect((await ask(token)).status).toBe(200);
  });

  test.each<[string, Record<string, unknown>]>([
    ['is of another issuer', { issuer: 'https://issuer.example' }],
    ['names no keys', { jwks_uri: undefined }],
    ['names a file', { jwks_uri: 'file:///etc/passwd' }],
  ])('whose discovery document %s are not believed', async (_what, change) => {
    await start();
    Object.assign(issuer.discovery, change);
    expect((await ask(await issuer.sign())).body.code).toBe('issuer_unavailable');
    expect(issuer.asked()).toBe(0);
  });

  test('at an address that was given need no discovery', async () => {
    await start({}, { jwksUrl: `${issuer.url}/keys` });
    issuer.discovery = {};
    expect((await ask(await issuer.sign())).status).toBe(200);
  });

  test('several of them: a token must say which', async () => {
    await start();
    const first = issuer.keys[0];
    issuer.keys = [...issuer.keys, await issuer.makeKey('second')];
    expect((await ask(await issuer.sign({}, { kid: undefined }, first))).body.detail).toContain('kid');
  });
});

describe('roles', () => {
  test('come from words of the site', async () => {
    await start({ rolesClaim: 'realm_access.roles', roleMap: { 'muster-admins': 'admin', staff: 'reader' } });
    const admin = await issuer.sign({ realm_access: { roles: ['staff', 'muster-admins'] } });
    expect((await ask(admin, 'GET', '/api/v1/tokens')).status).toBe(200);
    const staff = await issuer.sign({ realm_access: { roles: ['staff'] } });
    expect([(await ask(staff)).status, (await ask(staff, 'GET', '/api/v1/tokens')).status]).toEqual([200, 403]);
    expect((await ask(await issuer.sign({ realm_access: { roles: ['admin'] } }))).status).toBe(403);
    expect((await ask(await issuer.sign({ roles: ['admin'], realm_access: null }))).status).toBe(403);
  });
  test('come from a claim whose name has dots', async () => {
    await start({ rolesClaim: 'https://muster.example/roles' });
    expect((await ask(await issuer.sign({ 'https://muster.example/roles': 'openid reader' }))).status).toBe(200);
  });
});
