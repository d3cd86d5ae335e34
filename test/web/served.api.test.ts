/** How the built files are served. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ApiServer } from '../../api/server/api-server.ts';
import { createTestApp } from '../support/stack/test-api.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

const PAGE = '<link href="./assets/a.css"><script type="module" src="./assets/a.js"></script>';

let api: TokenApi;
let app: ApiServer;
let folder: string;
let built: string | null;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-test-web-'));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), PAGE);
  await writeFile(join(folder, 'assets', 'a.js'), 'plain');
  await writeFile(join(folder, 'assets', 'a.js.br'), 'brotli');
  api = await createTokenApi();
  app = createTestApp({ ...api.deps, webFiles: () => built, publicUrl: 'https://muster.example/fleet' });
  built = folder;
});
afterAll(async () => {
  await app.close();
  await api.close();
  await rm(folder, { recursive: true, force: true });
});

describe('the page', () => {
  test.each(['/ui/', '/ui/sessions', '/ui/components/a%2Fb', '/ui/no/such/page?x=1'])('is at %s', async (url) => {
    const { statusCode, headers, body } = await app.inject(url);
    expect([statusCode, headers['cache-control'], headers['content-type']]).toEqual([
      200,
      'no-cache',
      'text/html; charset=utf-8',
    ]);
    expect(body).toBe(
      '<link href="/fleet/ui/assets/a.css"><script type="module" src="/fleet/ui/assets/a.js"></script>',
    );
    const again = await app.inject({ url, headers: { 'if-none-match': String(headers.etag) } });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  test('has the policy, and may be neither framed nor guessed nor opened from elsewhere', async () => {
    for (const url of ['/ui/', '/ui/assets/a.js', '/ui/assets/none.js']) {
      const { headers } = await app.inject(url);
      expect(headers).toMatchObject({
        'content-security-policy':
          "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types muster-worker",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'muster-version': '0.0.0-test',
      });
    }
  });

  test('is found from /ui', async () => {
    const { statusCode, headers } = await app.inject('/ui');
    expect([statusCode, headers.location]).toEqual([308, 'ui/']);
  });
});

describe('assets', () => {
  test('are kept for ever, and sent as they were compressed', async () => {
    const plain = await app.inject('/ui/assets/a.js');
    expect([plain.body, plain.headers['cache-control']]).toEqual(['plain', 'public, max-age=31536000, immutable']);
    const brotli = await app.inject({ url: '/ui/assets/a.js', headers: { 'accept-encoding': 'gzip, br' } });
    expect([brotli.body, brotli.headers['content-encoding'], brotli.headers['content-type']]).toEqual([
      'brotli',
      'br',
      'application/javascript; charset=utf-8',
    ]);
  });

  test.each([
    '/ui/assets/none.js',
    '/ui/assets/',
    '/ui/assets/../index.html',
    '/ui/assets/%2e%2e%2findex.html',
    '/ui/assets/a/b',
  ])('%s is none, and that is not kept', async (url) => {
    const { statusCode, headers, body } = await app.inject(url);
    if (statusCode === 200) expect(body).toContain('/fleet/ui/assets/a.js');
    else expect([statusCode, headers['cache-control']]).toEqual([404, 'no-store']);
  });
});

test('before there is a build, the answer says how to make one', async () => {
  built = null;
  const { statusCode, body } = await app.inject('/ui/');
  built = folder;
  expect([statusCode, body]).toEqual([503, expect.stringContaining('npm run build:web')]);
});

describe('the root', () => {
  test.each([
    ['text/html,application/xhtml+xml,*/*;q=0.8', 303],
    ['TEXT/HTML; q=0.5', 303],
    ['*/*', 200],
    ['text/*', 200],
    ['application/json', 200],
    ['text/html;q=0, */*', 200],
    [undefined, 200],
  ])('asked for %s is %d', async (accept, status) => {
    const answer = await app.inject({ url: '/', headers: accept === undefined ? {} : { accept } });
    expect([answer.statusCode, answer.headers.vary]).toEqual([status, 'Accept']);
    if (status === 303) expect(answer.headers.location).toBe('ui/');
    else expect(answer.json()).toMatchObject({ major: '1' });
  });

  test('below another prefix stays CFS’s', async () => {
    expect((await app.inject({ url: '/apis/cfs/', headers: { accept: 'text/html' } })).statusCode).toBe(200);
  });
});
