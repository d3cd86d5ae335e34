/** `muster schedule` against a real API with an engine in memory. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { cli } from '../support/stack/command-line.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { type FakeSchedules, fakeSchedules } from '../support/temporal/fake-schedules.ts';

let api: TestApi;
let engine: FakeSchedules;
let url: string;
beforeAll(async () => {
  engine = fakeSchedules();
  api = await createTestApi({ schedules: engine });
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
});
afterAll(() => api.close());
beforeEach(async () => {
  engine.away = null;
  await api.database.db.deleteFrom('schedules').execute();
});

const run = (args: string[], stdin = '') => cli(['schedule', ...args], { url, stdin });
const stored = async (name: string) => (await api.call('GET', `/api/v1/schedules/${name}`)).body;

test.each<[string[], object]>([
  [['--refresh'], { refresh: {} }],
  [['--refresh', 'a', 'b'], { refresh: { configurations: ['a', 'b'] } }],
  [
    ['--reconfigure', '--tag', 'role=web', '--tag', 'rack=1', '--status', 'failed', '--desired', 'c'],
    { reconfigure: { filter: { tags: 'role=web,rack=1', status: 'failed' }, desired_config: 'c' } },
  ],
  [['--check', '--no-enabled', '--reconfigure-drifted'], { check: { filter: { enabled: false }, reconfigure: true } }],
  [
    ['--session', 'c', '--limit', 'h1,h2', '--prefix', 'n'],
    { session: { configuration_name: 'c', ansible_limit: 'h1,h2', name_prefix: 'n' } },
  ],
])('create %j', async (options, action) => {
  const { exit, err } = await run(['create', 'nightly', '--cron', '0 3 * * *', ...options]);
  expect([exit, err]).toEqual([0, 'schedule nightly created\n']);
  expect((await stored('nightly')).action).toEqual(action);
});

test('apply makes a schedule that was saved paused again so, and leaves one that is there as it is', async () => {
  await run(['create', 'nightly', '--cron', '0 3 * * *', '--refresh', '--paused']);
  const { out } = await run(['get', 'nightly', '-o', 'json']);
  await run(['delete', 'nightly']);
  const dry = await run(['apply', '-f', '-', '--dry-run=request'], out);
  expect(dry.out).toMatch(/^POST .*"paused": true.*^PUT /ms);
  expect(await run(['apply', '-f', '-'], out)).toMatchObject({ exit: 0, err: 'schedule nightly created, paused\n' });
  expect(await stored('nightly')).toMatchObject({ paused: true });
  await run(['resume', 'nightly']);
  const changed = { ...JSON.parse(out), jitter: 7 };
  const again = await run(['apply', '-f', '-'], JSON.stringify(changed));
  expect(again).toMatchObject({ exit: 0, err: 'schedule nightly stored (PUT)\n' });
  expect(await stored('nightly')).toMatchObject({ paused: false, jitter: 7 });
});

test('update changes what is given, apply replaces, pause says why, delete takes many', async () => {
  await run(['create', 'nightly', '--cron', '0 3 * * *', '--refresh', '--description', 'old', '--paused']);
  await run(['update', 'nightly', '--time-zone', 'Europe/Berlin', '--jitter', '30', '--overlap', 'allow_all']);
  expect(await stored('nightly')).toMatchObject({
    ...{ cron: '0 3 * * *', time_zone: 'Europe/Berlin', jitter: 30, overlap: 'allow_all', paused: true },
  });
  // What `get` shows can be applied.
  const { out } = await run(['get', 'nightly', '-o', 'json']);
  const changed = { ...JSON.parse(out), jitter: 0 };
  expect((await run(['apply', '-f', '-'], JSON.stringify(changed))).exit).toBe(0);
  expect(await stored('nightly')).toMatchObject({ jitter: 0, time_zone: 'Europe/Berlin', paused: true });
  await run(['resume', 'nightly']);
  expect((await run(['pause', 'nightly', '--note', 'night off'])).exit).toBe(0);
  expect((await run(['get', 'nightly'])).out).toContain('night off');
  expect((await run(['delete', 'nightly', 'nightly'])).exit).toBe(3);
  expect((await run(['list'])).err).toBe('no schedules\n');
});

test('what is wrong is said with its field, and has its exit status', async () => {
  const wrong = await run(['create', 'n', '--cron', '0 24 * * *', '--refresh']);
  expect([wrong.exit, wrong.err]).toEqual([2, expect.stringContaining("24 is no hour: it is 0 to 23 - 'cron'")]);
  const two = await run(['create', 'n', '--cron', '0 3 * * *', '--refresh', '--check']);
  expect([two.exit, two.err]).toEqual([2, expect.stringContaining('name one action')]);
  await run(['create', 'n', '--cron', '0 3 * * *', '--refresh']);
  expect((await run(['create', 'n', '--cron', '0 3 * * *', '--refresh'])).exit).toBe(5);
  expect((await run(['trigger', 'absent'])).exit).toBe(3);
});

test('an engine that is away is said: the schedule and its run are kept', async () => {
  engine.away = 'Temporal does not answer';
  const made = await run(['create', 'n', '--cron', '0 3 * * *', '--refresh']);
  expect([made.exit, made.err]).toEqual([0, expect.stringContaining('it does not run yet: Temporal does not answer')]);
  const asked = await run(['trigger', 'n']);
  expect([asked.exit, asked.err]).toEqual([0, expect.stringContaining('the run is kept, but does not begin yet')]);
  expect((await run(['next', 'n'])).exit).toBe(7);
  expect((await run(['runs', 'n', '-o', 'tsv'])).out).toMatch(/^time\tstate\t.*\n\S+\trequested\thand\t/);
});

test('trigger --wait waits for the end, which is the exit status', async () => {
  await run(['create', 'n', '--cron', '0 3 * * *', '--refresh']);
  const waiting = run(['trigger', 'n', '--wait']);
  const { db } = api.database;
  const end = { state: 'failed' as const, ended_at: new Date(), error_code: 'refresh_failed', error: 'no branch' };
  for (let updated = 0n; updated === 0n; ) {
    updated = (await db.updateTable('schedule_runs').set(end).executeTakeFirst()).numUpdatedRows;
  }
  const { exit, out } = await waiting;
  expect([exit, out]).toEqual([1, expect.stringContaining('refresh_failed: no branch')]);
  expect((await run(['trigger', 'n', '--dry-run=request'])).out).toContain('POST ');
});
