/** Stop everything, and go: what is paused and cancelled, what is taken back, and what a break in between leaves. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { runPass } from '../../control/batches/run-pass.ts';
import { stopEverything } from '../../control/fleet/stop-everything.ts';
import { withStopLock } from '../../store/fleet/stop.ts';
import { addOperator, addWidget, begin, end, recordOf } from '../operator/hands/fixtures.ts';
import { setSession } from '../sessions/session-fixtures.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

const layers = [{ clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];

let api: TokenApi;
let kicks = 0;
beforeAll(async () => {
  api = await createTokenApi({ dispatcher: { kick: () => void kicks++ } });
});
afterAll(() => api.close());

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const send = async (method: string, path: string, body?: unknown): Promise<any> => {
  const answer = await api.as(api.tokens.operator, method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const stop = (reason = 'the cooling fails') => send('POST', '/api/v1/stop', { reason });
const go = () => send('POST', '/api/v1/go', { reason: 'mended' });
const later = (seconds: number) => {
  api.now.value = new Date(api.now.value.getTime() + seconds * 1_000);
};
const paused = async (name: string) => (await send('GET', `/api/v1/schedules/${name}`)).paused;
const batcherPaused = async () => (await send('GET', '/api/v1/batches')).batcher.paused_at !== null;

beforeEach(async () => {
  const { db } = api.database;
  for (const table of ['batch_members', 'batches', 'rollout_members', 'rollouts', 'component_leases'] as const)
    await db.deleteFrom(table).execute();
  for (const table of ['outbox', 'sessions', 'schedules', 'components', 'configurations'] as const)
    await db.deleteFrom(table).execute();
  await go();
  await send('POST', '/api/v1/batches/resume', {});
  await send('PUT', '/v3/configurations/web', { layers });
  for (const name of ['w1', 'r1']) await send('POST', '/v3/sessions', { name, configuration_name: 'web' });
  const { id } = await send('GET', '/api/v1/sessions/r1');
  await setSession(db, id, { stage: 'admitted', status: 'running' });
  for (const name of ['day', 'night'])
    await send('POST', '/api/v1/schedules', { name, cron: '0 3 * * *', action: { refresh: {} } });
  await sql`truncate audit`.execute(db);
  later(1);
});

describe('stop', () => {
  test('pauses batcher and schedules and cancels all sessions, with the reason in every record', async () => {
    const before = kicks;
    const answer = await stop();
    expect(answer).toEqual({
      stopped: true,
      since: api.now.value.toISOString(),
      actor: 'token/ops',
      reason: 'the cooling fails',
      complete: true,
      counts: {
        batcher: 1,
        rollouts: 0,
        schedules: 2,
        sessions: 2,
        deployments: 0,
        operators: 0,
        plans: 0,
        reconciles: 0,
      },
    });
    const { counts: _, ...state } = answer;
    expect(await send('GET', '/api/v1/stop')).toEqual(state);
    expect((await send('GET', '/api/v1/status')).stop).toEqual(state);
    expect([await batcherPaused(), await paused('day'), await paused('night')]).toEqual([true, true, true]);
    expect((await send('GET', '/api/v1/sessions/w1')).status.session).toMatchObject({ status: 'complete' });
    expect((await send('GET', '/api/v1/sessions/r1')).cancel).toMatchObject({ reason: 'cancelled: the cooling fails' });
    expect(kicks).toBeGreaterThan(before);
    const metrics = String((await api.as(api.tokens.admin, 'GET', '/metrics')).body);
    expect(metrics).toMatch(/^muster_stopped 1$/m);
    const { records } = await send('GET', '/api/v1/audit');
    const seen = records.map(({ kind, action, reason }: Record<string, string>) => [kind, action, reason]).sort();
    const why = 'the cooling fails';
    expect(seen).toEqual([
      ['batcher', 'pause', why],
      ['fleet', 'stop', why],
      ['schedule', 'update', why],
      ['schedule', 'update', why],
      ['session', 'cancel', why],
      ['session', 'cancel', why],
    ]);
  });

  test('again stops what has begun since, and is since the first time', async () => {
    const first = await stop();
    later(60);
    await send('POST', '/v3/sessions', { name: 'new', configuration_name: 'web' });
    await send('POST', '/api/v1/schedules/day/resume', {});
    const second = await stop('still');
    expect(second).toMatchObject({
      since: first.since,
      reason: 'still',
      counts: { batcher: 0, schedules: 1, sessions: 1 },
    });
    expect(await go()).toMatchObject({ stopped: false, counts: { batcher: 1, schedules: 2 } });
  });

  test('stops a rollout that goes on', async () => {
    await send('PUT', '/v3/configurations/slow', { layers, muster: { rollout: { canary: 1, max_failed: 0 } } });
    await send(
      'PUT',
      '/v3/components',
      [1, 2, 3].map((n) => ({ id: `c${n}`, desired_config: 'slow', enabled: true })),
    );
    const log = { info: () => undefined, warn: () => undefined };
    const pass = async () => {
      later(10);
      await runPass({ db: api.deps.db, clock: api.deps.clock, dispatcher: { kick: () => undefined }, log });
    };
    await pass();
    expect((await stop()).counts).toMatchObject({ rollouts: 1 });
    const rollout = async () => send('GET', '/api/v1/rollouts/slow');
    expect(await rollout()).toMatchObject({ state: 'stopped', reason: expect.stringContaining('the cooling fails') });
    await pass();
    const open = await send('GET', '/api/v1/sessions?status=pending');
    expect(open.sessions).toEqual([]);
    expect((await go()).counts).toMatchObject({ rollouts: 1, batcher: 1 });
    expect((await rollout()).state).not.toBe('stopped');
  });

  test('keeps operators from beginning anything and cancels their reconciles; go lets them run again', async () => {
    const { db } = api.database;
    await addOperator(db, api.now.value);
    const record = await begin(db, await addWidget(db, 'w', api.now.value), api.now.value);
    expect((await stop()).counts).toMatchObject({ operators: 1, reconciles: 1 });
    expect(await recordOf(db, record.id)).toMatchObject({ cancelledBy: 'token/ops' });
    const resource = () => send('GET', `/api/v1/operator/resources/${record.resourceId}`);
    await end(db, record, 'cancelled', api.now.value);
    expect(await resource()).toMatchObject({ phase: 'waiting', next_attempt_at: null });
    expect((await go()).counts).toMatchObject({ operators: 1, reconciles: 1 });
    expect(await resource()).toMatchObject({ phase: 'queued' });
    const { records } = await send('GET', '/api/v1/audit?kind=operator');
    expect(records.map(({ name, action }: Record<string, string>) => [name, action]).sort()).toEqual([
      ['demo', 'pause'],
      ['demo', 'resume'],
    ]);
    await db.deleteFrom('operators').execute();
  });

  test('needs a reason, and an operator', async () => {
    for (const body of [
      {},
      { reason: '' },
      { reason: '  ' },
      { reason: 'x'.repeat(501) },
      { reason: 'x', all: true },
    ]) {
      const answer = await api.as(api.tokens.operator, 'POST', '/api/v1/stop', body);
      expect([body, answer.status, answer.body.code]).toEqual([body, 400, 'bad_request']);
    }
    expect((await api.as(api.tokens.reader, 'POST', '/api/v1/stop', { reason: 'x' })).status).toBe(403);
    expect((await api.as(api.tokens.reader, 'GET', '/api/v1/stop')).body).toMatchObject({ stopped: false });
    expect(await batcherPaused()).toBe(false);
  });

  test('while another is at work is refused, and changes nothing', async () => {
    const inside = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const holding = withStopLock(api.deps.db, async () => {
      inside.resolve();
      await leave.promise;
    });
    await inside.promise;
    const answer = await api.as(api.tokens.operator, 'POST', '/api/v1/stop', { reason: 'x' });
    leave.resolve();
    await holding;
    expect([answer.status, answer.body.code]).toEqual([503, 'changed_meanwhile']);
    expect(await send('GET', '/api/v1/stop')).toMatchObject({ stopped: false });
  });

  test('that is broken off counts as stopped and says so; the next completes it, and go takes back all of it', async () => {
    const { db, clock } = api.deps;
    const broken = { pause: () => Promise.reject(new Error('the database went away')) };
    const paused = { pause: async () => ({ batcher: 0 }) };
    const by = { actor: 'ann' };
    await expect(stopEverything({ db, clock, stops: [paused, broken] }, by, 'half')).rejects.toThrow('went away');
    expect(await send('GET', '/api/v1/stop')).toMatchObject({ stopped: true, actor: 'ann', complete: false });
    later(5);
    expect(await stop()).toMatchObject({ complete: true, actor: 'ann', counts: { batcher: 1, sessions: 2 } });
    expect(await go()).toMatchObject({ stopped: false, complete: true, counts: { batcher: 1, schedules: 2 } });
  });
});

describe('go', () => {
  test('takes back just what was stopped: what was paused by hand stays, cancelled sessions stay cancelled', async () => {
    await send('POST', '/api/v1/schedules/day/pause', { note: 'by hand' });
    later(1);
    expect((await stop()).counts).toMatchObject({ schedules: 1 });
    expect(await go()).toEqual({
      stopped: false,
      since: null,
      actor: null,
      reason: null,
      complete: true,
      counts: { batcher: 1, rollouts: 0, schedules: 1, deployments: 0, operators: 0, plans: 0, reconciles: 0 },
    });
    expect([await batcherPaused(), await paused('day'), await paused('night')]).toEqual([false, true, false]);
    expect((await send('GET', '/api/v1/sessions/w1')).status.session.status).toBe('complete');
    const { records } = await send('GET', '/api/v1/audit?kind=fleet');
    expect(records.map(({ action, reason }: Record<string, string>) => [action, reason])).toEqual([
      ['go', 'mended'],
      ['stop', 'the cooling fails'],
    ]);
  });

  test('leaves alone what somebody paused while everything was stopped', async () => {
    await stop();
    later(1);
    await send('POST', '/api/v1/batches/pause', {});
    await send('POST', '/api/v1/schedules/night/pause', { note: 'mine' });
    expect((await go()).counts).toMatchObject({ batcher: 0, schedules: 1 });
    expect([await batcherPaused(), await paused('day'), await paused('night')]).toEqual([true, false, true]);
  });

  test('without a stop, and without a body, does nothing', async () => {
    expect((await api.as(api.tokens.operator, 'POST', '/api/v1/go')).body).toMatchObject({
      stopped: false,
      counts: {},
    });
    expect((await send('GET', '/api/v1/audit?kind=fleet')).records).toEqual([]);
  });
});

test('a session that somebody makes while everything is stopped runs, with a warning', async () => {
  await stop();
  const made = await api.as(api.tokens.operator, 'POST', '/v3/sessions', { name: 'mine', configuration_name: 'web' });
  expect([made.status, String(made.headers.warning)]).toEqual([
    201,
    expect.stringMatching(/^299 muster "everything is stopped/),
  ]);
  const refused = await api.as(api.tokens.operator, 'POST', '/v3/sessions', {
    name: 'mine',
    configuration_name: 'web',
  });
  expect([refused.status, refused.headers.warning]).toEqual([409, undefined]);
  await go();
  const free = await api.as(api.tokens.operator, 'POST', '/v3/sessions', { name: 'free', configuration_name: 'web' });
  expect([free.status, free.headers.warning]).toEqual([201, undefined]);
});
