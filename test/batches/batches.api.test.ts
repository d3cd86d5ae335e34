import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { runPass } from '../../control/batches/run-pass.ts';
import { BATCHER_CHANNEL } from '../../store/batches/batcher-state.ts';
import { openListener } from '../../store/connection/listener.ts';
import { writeEnd } from '../../store/sessions/write-end.ts';
import { eventually } from '../support/eventually.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';
import { makeSession } from '../support/temporal/engine-sessions.ts';

let api: TokenApi;
beforeAll(async () => {
  api = await createTokenApi();
});
afterAll(() => api.close());

const BEGIN = Date.parse('2026-11-21T10:00:00Z');
const LIST = '/api/v1/batches';
const admin = (method: string, path: string, body?: unknown) => api.as(api.tokens.admin, method, path, body);
const ops = (method: string, path: string, body?: unknown) => api.as(api.tokens.operator, method, path, body);
const get = async (path: string) => {
  const answer = await api.as(api.tokens.reader, 'GET', path);
  expect(answer.status).toBe(200);
  return answer.body;
};
const list = (query = '') => get(`${LIST}${query}`);
const setOptions = (options: object) => ops('PATCH', '/v3/options', options);

function at(seconds: number): Date {
  api.now.value = new Date(BEGIN + seconds * 1_000);
  return api.now.value;
}

async function pass(seconds: number): Promise<void> {
  at(seconds);
  const log = { info: () => undefined, warn: () => undefined };
  await runPass({ db: api.deps.db, dispatcher: api.deps.dispatcher, clock: () => api.now.value, log });
}

async function put(...ids: string[]): Promise<void> {
  const components = ids.map((id) => ({ id, enabled: true, desired_config: id.split('-')[0] }));
  expect((await ops('PUT', '/v3/components', components)).status).toBe(200);
}

beforeEach(async () => {
  const { db } = api.deps;
  for (const table of ['batches', 'batch_keys', 'sessions', 'components', 'configurations'] as const) {
    await db.deleteFrom(table).execute();
  }
  await sql`delete from batcher_state`.execute(db);
  await sql`insert into batcher_state default values`.execute(db);
  at(0);
  await setOptions({ batch_size: 2, batch_window: 60, batcher_check_interval: 10, batcher_disable: false });
  for (const name of ['one', 'two']) {
    const layers = [{ clone_url: 'https://git.example/a.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
    expect((await ops('PUT', `/v3/configurations/${name}`, { layers })).status).toBe(200);
  }
});

describe('the list', () => {
  test('of options that are longer than time itself', async () => {
    const longest = Number.MAX_SAFE_INTEGER;
    await setOptions({ batch_window: longest, batcher_check_interval: longest, batcher_max_backoff: longest });
    await put('one-a');
    await pass(10);
    const { batcher, batches } = await list();
    expect(batcher).toMatchObject({ state: 'working', next_pass_at: expect.stringMatching(/^2126-/) });
    expect(batches).toMatchObject([{ why_not: 'window', until: expect.stringMatching(/^2126-/) }]);
  });

  test('of a batcher that has nothing to do', async () => {
    await pass(10);
    expect(await list()).toEqual({
      batcher: {
        state: 'working',
        paused_by: null,
        paused_at: null,
        backoff: null,
        results: { remembered: 20, failed: 0 },
        last_pass_at: '2026-11-21T10:00:10.000Z',
        last_pass_ms: expect.any(Number),
        next_pass_at: '2026-11-21T10:00:20.000Z',
        open: 0,
        sent: 0,
        held_keys: 0,
        held_reason: null,
        due: 0,
        waits: {},
        leased_components: 0,
        failed_components: 0,
        absent_configurations: [],
      },
      batches: [],
      next: null,
    });
  });

  test('says of an open batch why it waits and for how long, of a sent one what its session does', async () => {
    await put('one-a', 'two-a', 'two-b');
    await pass(10);
    at(15);
    const { batcher, batches } = await list();
    expect(batcher).toMatchObject({ open: 1, sent: 1, due: 0, waits: { window: 1 } });
    const [open, sent] = [batches.find(isOpen), batches.find(isSent)];
    expect(open).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      key: 'one:0:',
      configuration: 'one',
      layers: '0',
      state: 'open',
      components: 1,
      leased: 0,
      opened_at: '2026-11-21T10:00:10.000Z',
      why_not: 'window',
      until: '2026-11-21T10:01:10.001Z',
      seconds_left: 55.001,
      refusal: null,
      tries: 0,
      probe: false,
      sent_at: null,
      session: null,
      ended_at: null,
      result: null,
      fault: null,
      reason: null,
    });
    expect(sent).toMatchObject({
      configuration: 'two',
      components: 2,
      leased: null,
      why_not: null,
      sent_at: '2026-11-21T10:00:10.000Z',
      session: { name: expect.stringMatching(/^batcher-/), status: 'pending' },
    });
    expect(await get(`${LIST}/${sent.id}`)).toEqual({ ...sent, members: ['two-a', 'two-b'] });
    expect(await get(`${LIST}/${open.id}`)).toEqual({ ...open, members: ['one-a'] });
    at(71);
    expect((await list()).batches.find(isOpen)).toMatchObject({ why_not: null, until: null, seconds_left: null });
    expect((await list()).batcher).toMatchObject({ due: 1, waits: {} });
  });

  test.each([
    ['disabled', { batcher_disable: true }],
    ['paused', {}],
  ])('says that sending is %s', async (why, options) => {
    await put('one-a');
    await pass(10);
    await setOptions(options);
    if (why === 'paused') await ops('POST', `${LIST}/pause`);
    const { batcher, batches } = await list();
    expect(batcher).toMatchObject({ state: why, waits: { [why]: 1 } });
    expect(batches).toMatchObject([{ why_not: why, until: null, seconds_left: null }]);
  });

  test('says which back-off holds a batch, and until when', async () => {
    await put('one-a', 'one-b', 'two-a', 'two-b');
    await setOptions({ batch_size: 50, batch_window: 1 });
    await pass(10);
    await sql`update batcher_state set backoff_length = 120, backoff_start = ${at(10)}, results = array_fill(false, array[20])`.execute(
      api.deps.db,
    );
    at(20);
    const { batcher, batches } = await list();
    expect(batcher).toMatchObject({
      state: 'backoff',
      backoff: {
        length: 120,
        since: '2026-11-21T10:00:10.000Z',
        until: '2026-11-21T10:02:10.000Z',
        probe: null,
      },
      results: { remembered: 20, failed: 20 },
      waits: { backoff: 2 },
    });
    for (const batch of batches) expect(batch).toMatchObject({ why_not: 'backoff', seconds_left: 110 });
    at(131);
    // Then one goes alone, the others wait for its end.
    expect((await list()).batcher).toMatchObject({ due: 1, waits: { probe: 1 } });
  });

  test('counts components that are in no batch because of a lease', async () => {
    await put('one-a', 'one-b', 'one-c');
    const { id } = await makeSession(api.deps.db);
    await sql`insert into component_leases select c, ${id}, now() from unnest(array['one-a', 'one-b', 'none']) as c`.execute(
      api.deps.db,
    );
    await pass(10);
    expect((await list()).batcher).toMatchObject({ open: 1, leased_components: 2, waits: { window: 1 } });
    await writeEnd(api.deps.db, id, { succeeded: 'true', message: '', reason: null }, new Date());
    expect((await list()).batcher.leased_components).toBe(0);
  });

  test('shows ended ones when asked, newest first, with what became of them', async () => {
    await put('two-a', 'two-b');
    await pass(10);
    const [{ session }] = (await list()).batches;
    await writeEnd(api.deps.db, session.id, { succeeded: 'true', message: 'done', reason: null }, new Date());
    await pass(20);
    expect((await list()).batches).toEqual([]);
    const { batches } = await list('?state=ended');
    expect(batches).toMatchObject([
      { state: 'ended', result: 'success', components: 2, ended_at: '2026-11-21T10:00:20.000Z', why_not: null },
    ]);
    expect((await get(`${LIST}/${batches[0].id}`)).members).toEqual(['two-a', 'two-b']);
    await sql`delete from sessions where id = ${session.id}`.execute(api.deps.db);
    expect(await get(`${LIST}/${batches[0].id}`)).toMatchObject({ components: null, members: null });
  });

  test.each(['live', 'open', 'ended'])('pages through %s ones', async (state) => {
    for (let n = 0; n < 7; n++) {
      const opened = at(n % 3);
      const isEnded = state === 'ended';
      await api.deps.db
        .insertInto('batches')
        .values({
          id: randomUUID(),
          key: `one:0:${n}`,
          configuration: 'one',
          layers: '0',
          state: isEnded ? 'ended' : 'open',
          opened_at: opened,
          ended_at: isEnded ? opened : null,
          refusal: null,
          session_id: null,
          session_name: null,
          desired: null,
          result: isEnded ? 'failure' : null,
          reason: null,
        })
        .execute();
    }
    const whole = (await list(`?state=${state}`)).batches.map(({ id }: { id: string }) => id);
    const paged: string[] = [];
    let next: Record<string, string> | null = { state, limit: '3' };
    while (next !== null) {
      const page: { batches: { id: string }[]; next: Record<string, string> | null } = await list(
        `?${new URLSearchParams(next)}`,
      );
      expect(page.batches.length).toBeLessThanOrEqual(3);
      paged.push(...page.batches.map(({ id }) => id));
      next = page.next;
    }
    expect(paged).toEqual(whole);
    expect(new Set(paged).size).toBe(7);
    expect((await list(`?state=${state}&key=${encodeURIComponent('one:0:4')}`)).batches).toHaveLength(1);
    expect((await list(`?state=${state}&configuration=two`)).batches).toEqual([]);
  });

  test.each(['?state=none', '?limit=0', '?limit=1001', '?after_id=x', '?after_id=1-2', '?limit=a'])(
    'with %s is refused',
    async (query) => {
      const answer = await admin('GET', `${LIST}${query}`);
      expect(answer).toMatchObject({ status: 400, body: { code: 'bad_request' } });
    },
  );

  test.each(['none', randomUUID(), '0'])('a batch %s is not there', async (id) => {
    expect(await admin('GET', `${LIST}/${id}`)).toMatchObject({ status: 404, body: { code: 'batch_not_found' } });
  });
});

describe('keys', () => {
  test('are listed with their batches, failures and holds, page by page', async () => {
    await put('one-a', 'two-a', 'two-b', 'two-c');
    await pass(10);
    await sql`insert into batch_keys (key, failures, last_seen_at) values ('old:0:failed', 3, now())`.execute(
      api.deps.db,
    );
    await ops('POST', `${LIST}/pause`, { key: 'one:0:' });
    const { keys } = await get(`${LIST}/keys`);
    expect(keys).toMatchObject([
      { key: 'old:0:failed', open: 0, sent: 0, components: 0, failures_in_a_row: 3, paused: false },
      { key: 'one:0:', open: 1, components: 1, why_not: { paused: 1 }, paused: true, paused_by: 'token/ops' },
      { key: 'two:0:', open: 1, sent: 1, components: 1, why_not: { window: 1 }, paused: false, backoff: null },
    ]);
    const first = await get(`${LIST}/keys?limit=2`);
    expect(first.next).toEqual({ limit: 2, after_id: 'one:0:' });
    const second = await get(`${LIST}/keys?${new URLSearchParams(first.next)}`);
    expect([...first.keys, ...second.keys]).toEqual(keys);
    expect(second.next).toBeNull();
  });
});

describe('commands', () => {
  test('pause stops sending, resume lets it go on', async () => {
    await put('two-a', 'two-b');
    const paused = await ops('POST', `${LIST}/pause`);
    expect(paused).toMatchObject({
      status: 200,
      body: { paused_by: 'token/ops', paused_at: '2026-11-21T10:00:00.000Z' },
    });
    await pass(10);
    expect((await list()).batcher).toMatchObject({ state: 'paused', sent: 0 });
    expect((await ops('POST', `${LIST}/resume`, {})).body).toMatchObject({ state: 'working', paused_by: null });
    await pass(20);
    expect((await list()).batcher).toMatchObject({ sent: 1 });
  });

  test('pause of a key holds that key only', async () => {
    await put('one-a', 'two-a');
    await setOptions({ batch_size: 50, batch_window: 1 });
    await pass(10);
    expect((await ops('POST', `${LIST}/pause`, { key: 'one:0:' })).body.waits).toMatchObject({ paused: 1 });
    await pass(20);
    const { batches } = await list();
    expect(batches.find(isOpen)).toMatchObject({ key: 'one:0:', why_not: 'paused' });
    expect(batches.find(isSent)).toMatchObject({ key: 'two:0:' });
    await ops('POST', `${LIST}/resume`, { key: 'one:0:' });
    await pass(30);
    expect((await list()).batcher).toMatchObject({ open: 0, sent: 2 });
  });

  test.each(['pause', 'resume', 'tick'])('%s asks for a pass', async (word) => {
    const heard: string[] = [];
    const listener = openListener({
      url: api.database.url,
      name: 'test',
      channel: BATCHER_CHANNEL,
      onNotification: (payload) => void heard.push(payload),
      onConnected: () => void heard.push('connected'),
    });
    await eventually('it listens', async () => heard.includes('connected'));
    heard.length = 0;
    expect((await ops('POST', `${LIST}/${word}`)).status).toBe(word === 'tick' ? 202 : 200);
    await eventually('it was asked', async () => heard.length > 0);
    await listener.close();
  });

  test.each([
    ['{"key":"none:0:"}', 404, 'batch_key_not_found'],
    ['{"key":""}', 400, 'bad_request'],
    ['{"key":1}', 400, 'bad_request'],
    ['{"key":null}', 400, 'bad_request'],
    ['{"keys":["one:0:"]}', 400, 'bad_request'],
    ['[]', 400, 'bad_request'],
    ['null', 400, 'bad_request'],
    ['{', 400, 'body_not_json'],
  ])('pause and resume with %s are refused and change nothing', async (body, status, code) => {
    for (const word of ['pause', 'resume']) {
      expect(await ops('POST', `${LIST}/${word}`, body)).toMatchObject({ status, body: { code } });
    }
    expect((await list()).batcher.paused_by).toBeNull();
    expect((await get(`${LIST}/keys`)).keys).toEqual([]);
  });

  test.each(['pause', 'resume', 'tick'])('%s is for operators', async (word) => {
    for (const token of [api.tokens.reader, api.tokens.node]) {
      expect((await api.as(token, 'POST', `${LIST}/${word}`)).status).toBe(403);
    }
    expect((await api.as(api.tokens.node, 'GET', LIST)).status).toBe(403);
  });
});

describe('the status of Muster', () => {
  test('has a word for the batcher', async () => {
    expect((await get('/api/v1/status')).batcher).toMatchObject({ state: 'late', last_pass_at: null });
    await pass(10);
    expect((await get('/api/v1/status')).batcher).toMatchObject({ state: 'working', open: 0, sent: 0 });
    at(49);
    expect((await get('/api/v1/status')).batcher.state).toBe('working');
    at(51);
    expect((await get('/api/v1/status')).batcher.state).toBe('late');
  });
});

const isOpen = (batch: { state: string }) => batch.state === 'open';
const isSent = (batch: { state: string }) => batch.state === 'sent';
