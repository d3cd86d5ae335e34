import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { openHttpRegistry } from '../../drivers/tenants/http-registry.ts';
import { withoutRegistry } from '../../drivers/tenants/no-registry.ts';
import { startTenantRegistry, type TenantRegistryOptions } from '../support/fakes/tenant-registry-server.ts';
import { findProgram } from '../support/find-program.ts';
import { freePort } from '../support/free-port.ts';
import { makeCertificates } from '../support/git/git-http-server.ts';
import { describeNeeding } from '../support/requirement.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function start(options: Partial<TenantRegistryOptions> = {}) {
  const server = await startTenantRegistry({ tenants: ['blue', 'red team/1', 'ü'], ...options });
  stops.push(server.stop);
  return server;
}

test.each([
  ['blue', true],
  ['red team/1', true],
  ['ü', true],
  ['Blue', false],
  ['blue/', false],
  ['blue?x=1', false],
  ['%62lue', false],
  ['.', false],
  ['..', false],
  ['../tenants/blue', false],
])('of tenant %j the registry knows: %s', async (name, known) => {
  const { url } = await start();
  for (const base of [url, `${url}/`]) expect(await openHttpRegistry({ url: base }).hasTenant(name)).toBe(known);
});

test('each question is asked, so that a tenant that goes is refused at once', async () => {
  const { url, asked } = await start();
  const registry = openHttpRegistry({ url });
  await registry.hasTenant('blue');
  await registry.hasTenant('blue');
  expect(asked).toEqual(['/registry/tenants/blue', '/registry/tenants/blue']);
});

const answering =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(body);

describe('a registry that does not tell is unavailable, never a yes or a no', () => {
  test.each<[string, (response: ServerResponse) => void, string]>([
    ['fails', answering(500, '{}'), 'status 500'],
    ['wants a login', answering(401, '{}'), 'status 401'],
    ['sends elsewhere', answering(302, '', { location: '/registry/tenants/blue' }), 'status 302'],
    ['has nothing to say', answering(204, ''), 'status 204'],
    ['answers a page', answering(200, '<html>', { 'content-type': 'text/html' }), 'something else'],
    ['answers a list', answering(200, '[]'), 'something else'],
    ['answers null', answering(200, 'null'), 'something else'],
    ['answers nothing', answering(200, ''), 'something else'],
    ['answers without end', (response) => void response.write('x'.repeat(2 ** 21)), 'too large'],
    ['breaks off', (response) => void response.socket?.destroy(), 'failed'],
    [
      'breaks off in the middle',
      (response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"name":', () => response.socket?.destroy());
      },
      'failed',
    ],
    ['never answers', () => undefined, 'within 0.3 s'],
    [
      'trickles',
      (response) => {
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      },
      'within 0.3 s',
    ],
  ])('one that %s', async (_title, answer, detail) => {
    const { url } = await start({
      intercept: (_request, response) => {
        answer(response);
        return true;
      },
    });
    // Where no time-out is wanted, a machine that stands still for a moment is none.
    const timeoutMs = detail.startsWith('within') ? 300 : 60_000;
    await expect(openHttpRegistry({ url, timeoutMs }).hasTenant('blue')).rejects.toMatchObject({
      code: 'tenant_registry_unavailable',
      detail: expect.stringContaining(detail),
    });
  });

  test('one that is not there', async () => {
    const registry = openHttpRegistry({ url: `http://127.0.0.1:${await freePort()}` });
    await expect(registry.hasTenant('blue')).rejects.toMatchObject({ code: 'tenant_registry_unavailable' });
  });
});

test('without a registry no tenant is known, and the setting is named', async () => {
  await expect(withoutRegistry().hasTenant('blue')).rejects.toMatchObject({
    code: 'invalid_tenant',
    detail: expect.stringContaining('MUSTER_TENANT_REGISTRY_URL'),
  });
});

describeNeeding(findProgram('openssl') ? null : 'openssl is not installed', 'over https with an own authority', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-tenants-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test('it is asked when the authority is given, and unavailable when not', async () => {
    const { caFile, tls } = makeCertificates(dir);
    const { url } = await start({ tls });
    expect(await openHttpRegistry({ url, ca: await readFile(caFile, 'utf8') }).hasTenant('blue')).toBe(true);
    await expect(openHttpRegistry({ url }).hasTenant('blue')).rejects.toMatchObject({
      code: 'tenant_registry_unavailable',
      detail: expect.stringMatching(/certificate/),
    });
  });
});
