import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { type FakeSchedules, fakeSchedules } from '../support/temporal/fake-schedules.ts';

let api: TestApi;
let engine: FakeSchedules;
beforeAll(async () => {
  engine = fakeSchedules();
  api = await createTestApi({ schedules: engine, access: { mode: 'none', actorHeader: 'x-actor' } });
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.database.db.deleteFrom('schedules').execute();
  engine.has.clear();
  engine.triggered = [];
  engine.away = null;
  engine.says = { nextTimes: [], taken: 0, skippedOverlap: 0, missed: 0, busy: false };
  api.now.value = new Date('2026-11-21T10:00:00.700Z');
});

const PATH = '/api/v1/schedules';
const action = { refresh: {} };
const cron = '0 3 * * *';
const ABSENT = '00000000-0000-4000-8000-000000000000';

async function make(name: string, more: object = {}) {
  const answer = await api.call('POST', PATH, { name, cron, action, ...more }, { 'x-actor': 'alice' });
  expect(answer.status).toBe(201);
  return answer.body;
}

describe('a schedule', () => {
  test('is made with all defaults said, and the engine has it', async () => {
    expect(await make('nightly')).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'nightly',
      description: '',
      cron,
      time_zone: 'UTC',
      jitter: 0,
      overlap: 'skip',
      catchup_window: 600,
      action,
      paused: false,
      pause: null,
      synced: true,
      sync_error: null,
      created_at: '2026-11-21T10:00:00Z',
      updated_at: '2026-11-21T10:00:00Z',
      updated_by: 'alice',
      last_run: null,
    });
    expect(engine.has.get('nightly')).toMatchObject({ record: { cron, overlap: 'skip' }, paused: false });
  });

  test('may begin paused', async () => {
    const { paused, pause } = await make('nightly', { paused: true });
    expect([paused, pause]).toEqual([true, { note: '', by: 'alice', at: '2026-11-21T10:00:00Z' }]);
    expect(engine.has.get('nightly')?.paused).toBe(true);
  });

  test('of a name that is taken is refused and changes nothing', async () => {
    await make('nightly');
    const { status, body } = await api.call('POST', PATH, { name: 'nightly', cron: '0 4 * * *', action });
    expect([status, body.code]).toEqual([409, 'schedule_exists']);
    expect((await api.call('GET', `${PATH}/nightly`)).body.cron).toBe(cron);
  });

  test('is made once under an idempotency key', async () => {
    const request = ['POST', PATH, { name: 'nightly', cron, action }, { 'idempotency-key': 'k1' }] as const;
    const [first, again] = [await api.call(...request), await api.call(...request)];
    expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id]);
  });

  test('is kept when the engine is away, and the answer says why it does not run', async () => {
    engine.away = 'Temporal does not answer';
    const made = await make('nightly');
    expect([made.synced, made.sync_error]).toEqual([false, 'Temporal does not answer']);
    engine.away = null;
    const { body } = await api.call('PATCH', `${PATH}/nightly`, { jitter: 5 });
    expect([body.synced, body.sync_error, body.jitter]).toEqual([true, null, 5]);
  });

  test('is replaced as a whole by PUT, which keeps its pause, its id and its runs', async () => {
    const { id } = await make('nightly', { description: 'old', jitter: 7 });
    await api.call('POST', `${PATH}/nightly/pause`, { note: 'why' });
    await api.call('POST', `${PATH}/nightly/trigger`);
    const { status, body } = await api.call('PUT', `${PATH}/nightly`, { cron: '0 4 * * *', action });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, description: '', jitter: 0, cron: '0 4 * * *', paused: true });
    expect(body.last_run).toMatchObject({ schedule: 'nightly', state: 'requested' });
    expect(engine.has.get('nightly')).toMatchObject({ record: { cron: '0 4 * * *' }, paused: true });
  });

  test('is made by PUT where there is none, also by two at the same time', async () => {
    const put = () => api.call('PUT', `${PATH}/weekly`, { cron: '0 4 * * sun', action });
    const answers = await Promise.all([put(), put(), put()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  test('is changed in the given members by PATCH', async () => {
    await make('nightly', { description: 'kept' });
    const change = { action: { reconfigure: { filter: { status: 'failed' } } }, overlap: 'cancel_other' };
    const { status, body } = await api.call('PATCH', `${PATH}/nightly`, change, { 'x-actor': 'bob' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...change, cron, description: 'kept', updated_by: 'bob' });
  });

  test('changes by many at the same time are all kept', async () => {
    await make('nightly');
    const changes = [{ jitter: 9 }, { description: 'd' }, { overlap: 'allow_all' }, { catchup_window: 60 }];
    await Promise.all(changes.map((change) => api.call('PATCH', `${PATH}/nightly`, change)));
    const { body } = await api.call('GET', `${PATH}/nightly`);
    expect(body).toMatchObject({ ...Object.assign({}, ...changes), synced: true });
    expect(engine.has.get('nightly')?.record).toMatchObject(Object.assign({}, ...changes));
  });

  test('is deleted with its runs, and can be made again', async () => {
    const { id } = await make('nightly');
    await api.call('POST', `${PATH}/nightly/trigger`);
    expect((await api.call('DELETE', `${PATH}/nightly`)).status).toBe(204);
    expect(engine.has.size).toBe(0);
    const again = await make('nightly');
    expect(again.id).not.toBe(id);
    expect(again.last_run).toBeNull();
  });

  test('that is deleted while the engine is away is gone', async () => {
    await make('nightly');
    engine.away = 'no answer';
    expect((await api.call('DELETE', `${PATH}/nightly`)).status).toBe(204);
    expect((await api.call('GET', `${PATH}/nightly`)).status).toBe(404);
  });
});

describe('lists', () => {
  test('are paged by name', async () => {
    for (const name of ['b', 'a.x', 'c', 'a']) await make(name);
    const first = (await api.call('GET', `${PATH}?limit=3`)).body;
    expect(first.schedules.map(({ name }: { name: string }) => name)).toEqual(['a', 'a.x', 'b']);
    expect(first.next).toEqual({ limit: 3, after_id: 'b' });
    const second = (await api.call('GET', `${PATH}?limit=3&after_id=b`)).body;
    expect(second).toMatchObject({ schedules: [{ name: 'c' }], next: null });
    expect((await api.call('GET', `${PATH}?limit=4`)).body.next).toBeNull();
  });

  test('show the last run of each', async () => {
    await make('a');
    await make('b');
    const { body } = await api.call('POST', `${PATH}/b/trigger`);
    const { schedules } = (await api.call('GET', PATH)).body;
    expect(schedules.map(({ last_run }: { last_run: { id: string } | null }) => last_run?.id)).toEqual([
      undefined,
      body.id,
    ]);
  });

  test('of runs are paged, the newest first', async () => {
    await make('a');
    await make('b');
    const ids: string[] = [];
    for (let second = 0; second < 5; second += 1) {
      api.now.value = new Date(Date.UTC(2026, 10, 21, 10, 0, second));
      ids.push((await api.call('POST', `${PATH}/a/trigger`)).body.id);
      await api.call('POST', `${PATH}/b/trigger`);
    }
    const idsOf = (body: { runs: { id: string }[] }) => body.runs.map(({ id }) => id);
    const first = (await api.call('GET', `${PATH}/a/runs?limit=2`)).body;
    expect(idsOf(first)).toEqual([ids[4], ids[3]]);
    expect(first.next).toEqual({ limit: 2, after_id: ids[3] });
    const rest = (await api.call('GET', `${PATH}/a/runs?limit=5&after_id=${ids[3]}`)).body;
    expect([idsOf(rest), rest.next]).toEqual([[ids[2], ids[1], ids[0]], null]);
    expect((await api.call('GET', `${PATH}/a/runs/${ids[1]}`)).body).toMatchObject({ id: ids[1], schedule: 'a' });
    expect((await api.call('GET', `${PATH}/b/runs/${ids[1]}`)).body.code).toBe('schedule_run_not_found');
  });
});

describe('commands', () => {
  test('pause says who and why, resume forgets it', async () => {
    await make('nightly');
    const paused = await api.call('POST', `${PATH}/nightly/pause`, { note: 'maintenance' }, { 'x-actor': 'bob' });
    expect(paused.body).toMatchObject({
      paused: true,
      pause: { note: 'maintenance', by: 'bob', at: '2026-11-21T10:00:00Z' },
      synced: true,
    });
    expect(engine.has.get('nightly')).toMatchObject({ paused: true, pause_note: 'maintenance', paused_by: 'bob' });
    const { body } = await api.call('POST', `${PATH}/nightly/resume`, {});
    expect(body).toMatchObject({ paused: false, pause: null });
    expect(engine.has.get('nightly')?.paused).toBe(false);
  });

  test('trigger asks for one run a second, and says who asked', async () => {
    await make('nightly', { overlap: 'allow_all' });
    const first = await api.call('POST', `${PATH}/nightly/trigger`, undefined, { 'x-actor': 'bob' });
    expect(first.status).toBe(202);
    expect(first.body).toEqual({
      id: expect.any(String),
      schedule: 'nightly',
      scheduled_at: '2026-11-21T10:00:00Z',
      state: 'requested',
      requested_by: 'bob',
      by_hand: true,
      started_at: null,
      ended_at: null,
      result: null,
      error: null,
      synced: true,
      sync_error: null,
    });
    expect((await api.call('POST', `${PATH}/nightly/trigger`)).body.id).toBe(first.body.id);
    expect(engine.triggered[0]).toEqual({ name: 'nightly', overlap: 'allow_all', at: '2026-11-21T10:00:00.000Z' });
  });

  test('next times are the engine’s', async () => {
    await make('nightly');
    const nextTimes = [new Date('2026-11-22T03:00:00Z'), new Date('2026-11-23T03:00:00Z')];
    engine.says = { nextTimes, taken: 5, skippedOverlap: 2, missed: 1, busy: false };
    expect((await api.call('GET', `${PATH}/nightly/next`)).body).toEqual({
      name: 'nightly',
      paused: false,
      times: ['2026-11-22T03:00:00Z', '2026-11-23T03:00:00Z'],
      taken: 5,
      skipped_overlap: 2,
      missed: 1,
    });
    expect((await api.call('GET', `${PATH}/nightly/next?count=1`)).body.times).toHaveLength(1);
  });

  test('next times of what the engine does not have are refused with the reason', async () => {
    engine.away = 'no answer';
    await make('nightly');
    const unsynced = await api.call('GET', `${PATH}/nightly/next`);
    expect([unsynced.status, unsynced.body.code]).toEqual([503, 'engine_unavailable']);
    expect(unsynced.body.detail).toContain('no answer');
    engine.away = null;
    await api.call('PATCH', `${PATH}/nightly`, {});
    engine.has.clear();
    expect((await api.call('GET', `${PATH}/nightly/next`)).body.detail).toContain('has lost');
    engine.away = 'gone again';
    expect((await api.call('GET', `${PATH}/nightly/next`)).body.detail).toContain('gone again');
  });
});

describe('what is wrong is refused', () => {
  /** A method, the rest of a path, a body; jest hands a callback to tests whose rows are too short. */
  type Row = [string, string, object?];
  const row = ([method, rest, body]: Row): [string, string, object | undefined] => [method, rest, body];

  test.each(
    (
      [
        ['GET', ''],
        ['PATCH', '', {}],
        ['DELETE', ''],
        ['POST', '/pause', {}],
        ['POST', '/resume', {}],
        ['POST', '/trigger'],
        ['GET', '/next'],
        ['GET', '/runs'],
        ['GET', `/runs/${ABSENT}`],
      ] as Row[]
    ).map(row),
  )('%s of a schedule that there is not%s', async (method, rest, body) => {
    const answer = await api.call(method, `${PATH}/absent${rest}`, body);
    expect([answer.status, answer.body.code]).toEqual([404, 'schedule_not_found']);
    expect(answer.body.detail).toContain('absent');
  });

  test('a run that there is not', async () => {
    await make('nightly');
    const { status, body } = await api.call('GET', `${PATH}/nightly/runs/${ABSENT}`);
    expect([status, body.code]).toEqual([404, 'schedule_run_not_found']);
    expect((await api.call('GET', `${PATH}/nightly/runs/1`)).status).toBe(400);
  });

  test.each<[object, string, string]>([
    [{}, "'cron'", ''],
    [{ cron: '0 24 * * *' }, '24 is no hour', 'cron'],
    [{ cron, time_zone: 'Berlin' }, 'write a name of the IANA database', 'time_zone'],
    [{ cron, jitter: 1.5 }, 'jitter', 'jitter'],
    [{ cron, overlap: 'terminate_other' }, 'is not one of', 'overlap'],
    [{ cron, catchup_window: 1 }, 'must be at least 10', 'catchup_window'],
    [{ cron, zone: 'UTC' }, 'zone', ''],
    [{ cron, action: {} }, 'exactly one of reconfigure, refresh, session, check', 'action'],
    [{ cron, action: { refresh: {}, check: { filter: {} } } }, 'exactly one of', 'action'],
    [{ cron, action: { reconfigure: { filter: { tags: 'x' } } } }, 'key=value', 'action.reconfigure.filter.tags'],
    [{ cron, action: { reconfigure: { filter: { role: 'x' } } } }, 'role', 'action.reconfigure.filter'],
    [{ cron, action: { session: { configuration_name: '' } } }, 'must have', 'action.session.configuration_name'],
    [
      { cron, action: { session: { configuration_name: 'c', ansible_limit: '@f' } } },
      'must not name a file',
      'action.session.ansible_limit',
    ],
  ])('%j', async (wrong, sentence, field) => {
    await make('there');
    const given = { action, ...wrong };
    for (const [method, path, body] of [
      ['POST', PATH, { name: 'new', ...given }],
      ['PUT', `${PATH}/new`, given],
      ...('cron' in wrong ? [['PATCH', `${PATH}/there`, wrong]] : []),
    ] as const) {
      const answer = await api.call(String(method), String(path), body);
      expect([method, answer.status]).toEqual([method, 400]);
      expect(answer.body.detail).toContain(sentence);
      if (field !== '') expect(answer.body.detail).toContain(` - '${field}'`);
    }
    expect([...engine.has.keys()]).toEqual(['there']);
    expect((await api.call('GET', `${PATH}/new`)).status).toBe(404);
  });

  test.each(['Nightly', 'a_b', '-a', 'a'.repeat(61)])('the name %s', async (name) => {
    expect((await api.call('POST', PATH, { name, cron, action })).status).toBe(400);
    expect((await api.call('PUT', `${PATH}/${name}`, { cron, action })).status).toBe(400);
  });

  test.each(
    (
      [
        ['POST', '/pause', { reason: 'x' }],
        ['POST', '/pause', { note: 'x'.repeat(501) }],
        ['POST', '/resume', { note: 5 }],
        ['GET', '/next?count=11'],
        ['GET', '/next?count=0'],
        ['GET', '/runs?limit=0'],
        ['GET', '/runs?after_id=x'],
      ] as Row[]
    ).map(row),
  )('%s %s %j', async (method, rest, body) => {
    await make('nightly');
    expect((await api.call(method, `${PATH}/nightly${rest}`, body)).status).toBe(400);
  });

  test('limits of the list', async () => {
    expect((await api.call('GET', `${PATH}?limit=0`)).status).toBe(400);
    expect((await api.call('GET', `${PATH}?limit=1001`)).status).toBe(400);
  });
});
