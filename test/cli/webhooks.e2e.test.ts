import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { always, type FakeApi, startFakeApi } from '../support/fakes/fake-api.ts';
import { cli } from '../support/stack/command-line.ts';

const ADDRESS = 'https://hooks.test/CANARY?key=CANARY';
let api: FakeApi;
beforeEach(async () => {
  api = await startFakeApi();
  api.on('POST /api/v1/webhooks', always(201, { name: 'ops', secret: 'whsec_x' }));
  api.on('PATCH /api/v1/webhooks/ops', always(200, { name: 'ops' }));
});
afterEach(() => api.close());

const run = (args: string[], stdin = '') => cli(['webhook', ...args], { url: api.url, stdin });
const CREATE = ['create', 'ops', '--event', 'session.ended', '--to'];

test.each([
  [[...CREATE, '-'], `${ADDRESS}\n`],
  [[...CREATE, ADDRESS], ''],
  [['update', 'ops', '--to', '-'], ADDRESS],
])('%j takes the address, and repeats it nowhere', async (args, stdin) => {
  const { exit, out, err } = await run(args, stdin);
  expect([exit, api.seen.map(({ body }) => (body as { url: string }).url)]).toEqual([0, [ADDRESS]]);
  expect(out + err).not.toContain('CANARY');
});

test.each([[[...CREATE, '-']], [['update', 'ops', '--to', '-']]])('%j --dry-run does not show it', async (args) => {
  const { exit, out, err } = await run([...args, '--dry-run=request'], ADDRESS);
  expect([exit, api.seen]).toEqual([0, []]);
  expect(out).toContain('"url": "********"');
  expect(out + err).not.toContain('CANARY');
});

test('an empty address is refused', async () => {
  const { exit, err } = await run([...CREATE, '-'], '');
  expect([exit, err]).toEqual([2, expect.stringContaining('stdin is empty')]);
  expect(api.seen).toEqual([]);
});
