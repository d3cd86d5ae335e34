import { get } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { type ApiProcess, startApiProcess } from '../support/stack/api-process.ts';

let database: TestDatabase;
let api: ApiProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApiProcess(database.url, { MUSTER_PUBLIC_URL: 'https://muster.example.test/fleet/' });
});
afterAll(async () => {
  await api?.stop();
  await database?.close();
});

function statusFor(host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(`${api.base}/v3/options`, { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).on('error', reject);
  });
}

test('links lead to the public address, and the API answers to its name', async () => {
  const headers = { 'content-type': 'application/json' };
  await fetch(`${api.base}/v3/components/n1`, { method: 'PUT', headers, body: '{}' });
  const { logs } = (await (await fetch(`${api.base}/v3/components/n1`)).json()) as { logs: string };
  expect(logs).toMatch(/^https:\/\/muster\.example\.test\/fleet\/v3\/components\/n1/);
  expect(await statusFor('muster.example.test')).toBe(200);
  expect(await statusFor('other.example.test')).toBe(421);
});
