import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { startTenantRegistry, type TenantRegistryServer } from '../support/fakes/tenant-registry-server.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { type ApiProcess, startApiProcess } from '../support/stack/api-process.ts';

let database: TestDatabase;
let registry: TenantRegistryServer;
let data: string;
let one: ApiProcess;
let two: ApiProcess;
beforeAll(async () => {
  [database, registry] = await Promise.all([createTestDatabase(), startTenantRegistry({ tenants: ['blue'] })]);
  // Servers of one installation have the same keys.
  data = await mkdtemp(join(tmpdir(), 'muster-two-servers-'));
  one = await startApiProcess(database.url, { MUSTER_DATA_DIR: data, MUSTER_TENANT_REGISTRY_URL: registry.url });
  two = await startApiProcess(database.url, { MUSTER_DATA_DIR: data });
}, 600_000);
afterAll(async () => {
  await one?.stop();
  await two?.stop();
  await registry?.stop();
  await rm(data, { recursive: true, force: true });
  await database?.close();
});

async function call(api: ApiProcess, method: string, path: string, body?: unknown, headers = {}) {
  const json = body === undefined ? {} : { headers: { 'content-type': 'application/json', ...headers } };
  const response = await fetch(api.base + path, {
    method,
    headers,
    ...json,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

/** Requests one after another, 20 ms apart, whose lines may be on their way all at once. */
const QUIET = 10;

let count = 0;
/** Makes a request whose line in the log, if there is one, is known by the answer. */
async function probe(api: ApiProcess): Promise<string> {
  const id = `probe-${count++}`;
  await fetch(`${api.base}/versions`, { headers: { 'x-request-id': id } });
  return id;
}
const isLogged = (api: ApiProcess, id: string) => api.log.some((line) => line.includes(`"${id}"`));
const logsAgain = async (api: ApiProcess) => {
  const asked: string[] = [];
  const isHeard = async () => asked.push(await probe(api)) > 0 && asked.some((id) => isLogged(api, id));
  await eventually('it logs requests', isHeard);
};
/** The last request of those that left no line although lines of former ones would have come by now. */
const isQuiet = async (api: ApiProcess) => {
  const asked: string[] = [];
  const leavesNoLine = async () =>
    asked.push(await probe(api)) > QUIET && !asked.slice(-QUIET).some((id) => isLogged(api, id));
  await eventually('it logs no more requests', leavesNoLine);
  return asked.at(-1) ?? '';
};

test('the logging level that one server takes is that of the other one', async () => {
  for (let round = 0; round < 5; round++) {
    expect((await call(one, 'PATCH', '/v3/options', { logging_level: 'ERROR' })).status).toBe(200);
    const quiet = await isQuiet(two);
    expect((await call(two, 'PATCH', '/v3/options', { logging_level: 'INFO' })).status).toBe(200);
    await logsAgain(one);
    await logsAgain(two);
    // Lines come in order, so this one will not come any more.
    expect(isLogged(two, quiet)).toBe(false);
  }
});

test('a registry of tenants is a setting', async () => {
  const as = (tenant: string) => ({ 'Cray-Tenant-Name': tenant });
  expect((await call(one, 'PUT', '/v3/configurations/c', { layers: [] }, as('blue'))).body.tenant_name).toBe('blue');
  expect((await call(one, 'GET', '/v3/configurations', undefined, as('red'))).body.title).toBe('Invalid tenant');
  const refused = await call(two, 'GET', '/v3/configurations', undefined, as('blue'));
  expect([refused.status, refused.body.title]).toEqual([400, 'Invalid tenant']);
  expect(refused.body.detail).toContain('MUSTER_TENANT_REGISTRY_URL');
});

test('a server that is set up and has no engine says which part is missing', async () => {
  expect(await call(one, 'GET', '/healthz')).toEqual({
    status: 503,
    body: { db_status: 'ok', kafka_status: 'not_available' },
  });
  await eventually('it is set up', async () => (await call(one, 'GET', '/api/v1/status')).body.setup.ok);
});
