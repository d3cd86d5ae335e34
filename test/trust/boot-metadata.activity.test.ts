import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { openBootMetadata } from '../../drivers/trust/boot-metadata.ts';
import { freePort } from '../support/free-port.ts';

interface Entry {
  hosts: string[];
  'cloud-init': { 'meta-data': Record<string, unknown> };
}

let server: Server;
let url: string;
let record: Entry | null;
let broken: number | null;
const calls: string[] = [];

/** The boot script service, as far as it is used: PATCH adds to the metadata that are there. */
beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    calls.push(`${request.method} ${request.url}`);
    response.statusCode = broken ?? 200;
    if (broken !== null) return response.end('no JSON');
    if (request.method === 'GET') {
      if (record === null) response.statusCode = 404;
      return response.end(JSON.stringify(record === null ? { title: 'Not Found' } : [record]));
    }
    const given = JSON.parse(text) as Entry;
    if (request.method === 'POST') record = given;
    else Object.assign(record?.['cloud-init']['meta-data'] ?? {}, given['cloud-init']['meta-data']);
    return response.end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/boot/v1/`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  calls.length = 0;
  broken = null;
});

const entry = (metadata: Record<string, unknown>): Entry => ({
  hosts: ['Global'],
  'cloud-init': { 'meta-data': metadata },
});
const READ = 'GET /boot/v1/bootparameters?name=Global';

test.each([
  ['there is no record', null, 'POST', { cfs_public_key: 'ssh-ed25519 AAAA ca' }],
  ['the key is absent', entry({ other: 1 }), 'PATCH', { other: 1, cfs_public_key: 'ssh-ed25519 AAAA ca' }],
  ['it is another one', entry({ cfs_public_key: 'old' }), 'PATCH', { cfs_public_key: 'ssh-ed25519 AAAA ca' }],
])('the authority is published when %s', async (_what, before, method, after) => {
  record = before;
  expect(await openBootMetadata({ url }).publishAuthority('ssh-ed25519 AAAA ca\n')).toBe(true);
  expect(record).toEqual(entry(after));
  expect(calls).toEqual([READ, `${method} /boot/v1/bootparameters`]);
});

test('nothing is written when it is there already', async () => {
  record = entry({ cfs_public_key: 'ssh-ed25519 AAAA ca' });
  expect(await openBootMetadata({ url }).publishAuthority('ssh-ed25519 AAAA ca\n')).toBe(false);
  expect(calls).toEqual([READ]);
});

test('a service that refuses, answers nonsense or is away is named', async () => {
  const failing = (at: string) => openBootMetadata({ url: at }).publishAuthority('ssh-ed25519 AAAA ca\n');
  const named = (words: string) => ({ code: 'trust_unavailable', message: expect.stringContaining(words) });
  broken = 500;
  await expect(failing(url)).rejects.toMatchObject(named('GET answered 500'));
  broken = 200;
  await expect(failing(url)).rejects.toMatchObject(named('it does not answer JSON'));
  await expect(failing(`http://127.0.0.1:${await freePort()}`)).rejects.toMatchObject(named('boot metadata service'));
});
