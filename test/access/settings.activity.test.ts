import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isOnLoopback } from '../../config/access.ts';
import { loadEnvironment } from '../../config/environment.ts';
import { environmentOfProcesses } from '../../config/file-settings.ts';
import { tlsSettings } from '../../config/tls-settings.ts';
import { makeCertificates } from '../support/git/git-http-server.ts';
import { describeNeeding } from '../support/requirement.ts';

const OIDC = { MUSTER_AUTH: 'token', MUSTER_OIDC_ISSUER: 'https://issuer.example', MUSTER_OIDC_AUDIENCE: 'muster' };

describe('what is started', () => {
  test.each<[Record<string, string>]>([
    [{}],
    [{ MUSTER_AUTH: 'none', MUSTER_API_HOST: '::1' }],
    [{ MUSTER_AUTH: 'none', MUSTER_API_HOST: '0.0.0.0', MUSTER_TRUST_GATEWAY: '1' }],
    [{ MUSTER_API_HOST: '0.0.0.0', MUSTER_TRUST_GATEWAY: '1', MUSTER_ACTOR_HEADER: 'X-User' }],
    [{ MUSTER_AUTH: 'token', MUSTER_API_HOST: '0.0.0.0' }],
    [{ MUSTER_TOKEN: 'secret', MUSTER_TOKEN_FILE: '/etc/token', MUSTER_URL: 'https://muster.example' }],
    [OIDC],
    [{ ...OIDC, MUSTER_OIDC_ISSUER: 'http://127.0.0.1:8080/realms/a' }],
    [{ ...OIDC, MUSTER_OIDC_ROLE_MAP: 'a=admin, group/x=y=reader' }],
  ])('%j', (env) => expect(() => loadEnvironment(env)).not.toThrow());

  test.each<[Record<string, string>, RegExp]>([
    [{ MUSTER_API_HOST: '0.0.0.0' }, /MUSTER_API_HOST: is not loopback.*MUSTER_AUTH=token/],
    [{ MUSTER_API_HOST: '127.0.0.1.example.com' }, /MUSTER_API_HOST/],
    [{ MUSTER_AUTH: 'basic' }, /MUSTER_AUTH/],
    [{ MUSTER_TLS_CERT: 'a.pem' }, /MUSTER_TLS_CERT: needs MUSTER_TLS_KEY too/],
    [{ MUSTER_TLS_KEY: 'a.pem' }, /MUSTER_TLS_KEY: needs MUSTER_TLS_CERT too/],
    [{ MUSTER_ACTOR_HEADER: 'x-user' }, /MUSTER_ACTOR_HEADER: is believed only with MUSTER_TRUST_GATEWAY=1/],
    [{ MUSTER_ACTOR_HEADER: 'x-user', MUSTER_TRUST_GATEWAY: '1', MUSTER_AUTH: 'token' }, /MUSTER_ACTOR_HEADER/],
    [{ MUSTER_ACTOR_HEADER: 'x user', MUSTER_TRUST_GATEWAY: '1' }, /name of a header/],
    [{ ...OIDC, MUSTER_AUTH: 'none' }, /MUSTER_OIDC_ISSUER: needs MUSTER_AUTH=token/],
    [{ MUSTER_AUTH: 'token', MUSTER_OIDC_ISSUER: 'https://i.example' }, /needs MUSTER_OIDC_AUDIENCE too/],
    [{ MUSTER_AUTH: 'token', MUSTER_OIDC_AUDIENCE: 'a' }, /MUSTER_OIDC_AUDIENCE: needs MUSTER_OIDC_ISSUER too/],
    [{ ...OIDC, MUSTER_OIDC_AUDIENCE: ' , ' }, /names no audience/],
    [{ ...OIDC, MUSTER_OIDC_ISSUER: 'http://issuer.example' }, /must begin with https/],
    [{ ...OIDC, MUSTER_OIDC_ISSUER: 'http://localhost:x@evil.example' }, /must begin with https/],
    [{ ...OIDC, MUSTER_OIDC_JWKS_URL: 'http://127.0.0.1.evil.example/keys' }, /must begin with https/],
    [{ ...OIDC, MUSTER_OIDC_ROLE_MAP: 'a=root' }, /'a=root' is not word=role/],
    [{ MUSTER_ADMIN_TOKEN_FILE: '/x' }, /MUSTER_ADMIN_TOKEN_FILE: needs MUSTER_AUTH=token/],
  ])('%j is refused', (env, words) => expect(() => loadEnvironment(env)).toThrow(words));

  test('a map of words to roles may name any word', () => {
    const env = loadEnvironment({ ...OIDC, MUSTER_OIDC_ROLE_MAP: 'a=admin, group/x=y=reader,__proto__=operator' });
    expect(Object.entries(env.MUSTER_OIDC_ROLE_MAP ?? {})).toEqual([
      ['a', 'admin'],
      ['group/x=y', 'reader'],
      ['__proto__', 'operator'],
    ]);
  });

  test('the token is never handed on', () => {
    const env = { MUSTER_TOKEN: 'secret1', MUSTER_TOKEN_FILE: 'f', MUSTER_TLS_CERT: 'a.pem', MUSTER_TLS_KEY: '/b.pem' };
    expect(environmentOfProcesses({ ...env, PATH: '/bin' })).toEqual({
      PATH: '/bin',
      MUSTER_TLS_CERT: resolve('a.pem'),
      MUSTER_TLS_KEY: '/b.pem',
    });
  });

  test.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['localhost', true],
    ['::1', true],
    ['[::1]', true],
    ['0.0.0.0', false],
    ['::', false],
    ['127.example', false],
    ['10.0.0.1', false],
  ])('%s is reached from this machine alone: %s', (host, expected) =>
    expect(isOnLoopback({ MUSTER_API_HOST: host })).toBe(expected),
  );
});

describe('certificate and key', () => {
  let dir: string;
  const file = (name: string) => join(dir, name);
  const tls = (cert: string, key: string) => () =>
    tlsSettings({ MUSTER_TLS_CERT: file(cert), MUSTER_TLS_KEY: file(key) });
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'muster-tls-'));
    makeCertificates(dir);
    chmodSync(file('server.key'), 0o600);
    writeFileSync(file('text'), 'hello');
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test('are read when they fit', () => {
    expect(tls('server.pem', 'server.key')()).toMatchObject({ warnings: [], files: { key: file('server.key') } });
    expect(tlsSettings({ MUSTER_TLS_CERT: undefined, MUSTER_TLS_KEY: undefined })).toBeUndefined();
  });
  test('a key that others may read is said', () => {
    chmodSync(file('ca.key'), 0o644);
    expect(tls('ca.pem', 'ca.key')()?.warnings).toEqual([expect.stringContaining('chmod 600')]);
  });
  describeNeeding(
    process.geteuid?.() === 0 ? null : 'only root gives a file away',
    'of another owner, as Secrets are',
    () => {
      test('is read by its group', () => {
        copyFileSync(file('server.key'), file('mounted.key'));
        chownSync(file('mounted.key'), 65_534, 65_534);
        chmodSync(file('mounted.key'), 0o440);
        expect(tls('server.pem', 'mounted.key')()?.warnings).toEqual([]);
        chmodSync(file('mounted.key'), 0o444);
        expect(tls('server.pem', 'mounted.key')()?.warnings).toHaveLength(1);
      });
    },
  );
  test.each([
    ['none.pem', 'server.key', /MUSTER_TLS_CERT: .*none.pem cannot be read \(ENOENT\)/],
    ['server.pem', 'none.key', /MUSTER_TLS_KEY: .*none.key cannot be read/],
    ['text', 'server.key', /MUSTER_TLS_CERT: .* no certificate in PEM form/],
    ['server.pem', 'text', /MUSTER_TLS_KEY: .* no private key/],
    ['server.key', 'server.pem', /MUSTER_TLS_CERT: .* no certificate/],
    ['server.pem', 'ca.key', /MUSTER_TLS_KEY: .* is not the key of the first certificate/],
  ])('%s with %s is refused by name', (cert, key, words) => expect(tls(cert, key)).toThrow(words));
});
