import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openAddressSeal } from '../../control/webhooks/address-seal.ts';
import { deliverNotifications } from '../../control/webhooks/deliver-notifications.ts';
import { forgetOldNotifications } from '../../control/webhooks/wake-webhooks.ts';
import type { WebhookSender } from '../../domain/webhooks/ports.ts';
import { writeEnd } from '../../store/sessions/write-end.ts';
import { eventually } from '../support/eventually.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

type Sent = Parameters<WebhookSender['send']>[0];

let api: TestApi;
/** What receivers were sent, and how they answer. */
let sent: Sent[] = [];
let answer: (request: Sent) => Promise<{ status: number; retryAfter: number }>;
let count = 0;
beforeAll(async () => {
  api = await createTestApi();
  await api.call('PUT', '/v3/configurations/one', {
    layers: [{ clone_url: 'https://git.example.test/one.git', playbook: 'site.yml', commit: 'a'.repeat(40) }],
  });
});
afterAll(() => api.close());
beforeEach(async () => {
  sent = [];
  answer = async () => ({ status: 200, retryAfter: 0 });
  await api.deps.db.deleteFrom('webhooks').execute();
  // The times of notifications are the database's, whose clock is this machine's.
  api.now.value = new Date(Date.now() + 60_000);
});

const SESSION_ENDED = { url: 'https://hooks.example.test/x', events: ['session.ended'] };

async function create(more: object = {}) {
  count += 1;
  const made = await api.call('POST', '/api/v1/webhooks', { name: `hook-${count}`, ...SESSION_ENDED, ...more });
  expect(made.status).toBe(201);
  return made.body;
}

/** A session that ends; answers its name. */
async function endedSession(succeeded: 'true' | 'false' = 'true'): Promise<string> {
  count += 1;
  const name = `ended-${count}`;
  expect((await api.call('POST', '/v3/sessions', { name, configuration_name: 'one' })).status).toBe(201);
  const { id } = await api.deps.db
    .selectFrom('sessions')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  await writeEnd(
    api.deps.db,
    id,
    { succeeded, message: 'by https://me:geheim@git.example.test/', reason: null },
    new Date(),
  );
  return name;
}

/** Delivers what is due; answers when the next try is. */
function deliver(name: string, signal = new AbortController().signal): Promise<Date | null> {
  const webhooks: WebhookSender = {
    send: (request) => {
      sent.push(request);
      return answer(request);
    },
  };
  const { db, secrets, cipher } = api.deps;
  const addressSeal = openAddressSeal(db, secrets, cipher);
  return deliverNotifications({ ...api.deps, addressSeal, webhooks }, name, signal);
}

const deliveries = async (name: string, query = '') =>
  (await api.call('GET', `/api/v1/webhooks/${name}/deliveries${query}`)).body.deliveries;

describe('a webhook', () => {
  test('is made, shown without its secret, changed and removed with it', async () => {
    const { name, secret, ...shown } = await create({ url: 'https://me:geheim@hooks.example.test/x?key=geheim' });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/);
    expect(shown).toMatchObject({ url: 'https://hooks.example.test/***', enabled: true, waiting: 0 });
    const got = await api.call('GET', `/api/v1/webhooks/${name}`);
    expect([got.status, got.body]).toEqual([200, { name, ...shown }]);
    const patched = await api.call('PATCH', `/api/v1/webhooks/${name}`, { enabled: false });
    expect(patched.body).toMatchObject({ name, enabled: false, events: ['session.ended'] });
    expect((await api.call('GET', '/api/v1/webhooks')).body).toMatchObject({ webhooks: [{ name }], next: null });
    expect((await api.call('DELETE', `/api/v1/webhooks/${name}`)).status).toBe(204);
    expect((await api.call('GET', `/api/v1/webhooks/${name}`)).body).toMatchObject({ code: 'webhook_not_found' });
    expect((await api.deps.secrets.list()).map((entry) => entry.name)).not.toContain(`muster-webhook-${name}`);
  });
  test('of a name that is taken is refused and changes nothing', async () => {
    const { name, secret } = await create();
    const again = await api.call('POST', '/api/v1/webhooks', { name, url: 'http://other/', events: ['session.ended'] });
    expect([again.status, again.body.code]).toEqual([409, 'webhook_exists']);
    expect(await api.deps.secrets.get(`muster-webhook-${name}`)).toEqual({ key: secret });
    expect((await api.call('GET', `/api/v1/webhooks/${name}`)).body.url).toBe('https://hooks.example.test/***');
  });
  test.each([
    ['POST', '', { name: 'x', url: 'ftp://x/', events: ['session.ended'] }, 'url'],
    ['POST', '', { name: 'x', url: 'http://x/', events: ['all'] }, 'events.0'],
    ['POST', '', { name: 'x', url: 'http://x/', events: ['session.ended'], more: 1 }, 'more'],
    ['PATCH', '/nobody', { secret: 'kurz' }, 'secret'],
    ['PATCH', '/nobody', { name: 'other' }, 'name'],
  ])('%s %s %j is refused by name of the field', async (method, path, body, field) => {
    const refused = await api.call(method, `/api/v1/webhooks${path}`, body);
    expect([refused.status, refused.body.code]).toEqual([400, 'bad_request']);
    expect(refused.body.detail).toContain(field);
    expect(refused.body.detail).not.toMatch(/kurz|ftp:/);
  });
  test.each([
    ['GET', '/nobody'],
    ['PATCH', '/nobody'],
    ['DELETE', '/nobody'],
    ['POST', '/nobody/test'],
    ['GET', '/nobody/deliveries'],
  ])('%s %s that is not there is 404', async (method, path) => {
    const answer = await api.call(method, `/api/v1/webhooks${path}`, method === 'PATCH' ? {} : undefined);
    expect([answer.status, answer.body.code]).toEqual([404, 'webhook_not_found']);
  });
});

describe('a session that ends', () => {
  test('is told once, signed, without secrets', async () => {
    const { name, secret } = await create();
    const session = await endedSession('false');
    expect(await deliver(name)).toBeNull();
    expect(await deliver(name)).toBeNull();
    expect(sent).toHaveLength(1);
    const [{ headers = {}, body = '', url = '' } = {}] = sent;
    expect(url).toBe(SESSION_ENDED.url);
    expect(JSON.parse(body)).toMatchObject({ event: 'session.ended', data: { name: session, succeeded: 'false' } });
    expect(JSON.parse(body).data.completion_time).toMatch(/^20[0-9-]{8}T[0-9:]{8}Z$/);
    expect(body).not.toContain('geheim');
    const [, time, hash] = /^t=([0-9]+),v1=([0-9a-f]{64})$/.exec(headers['muster-signature'] ?? '') ?? [];
    expect(hash).toBe(createHmac('sha256', secret).update(`${time}.${body}`).digest('hex'));
    expect(await deliveries(name)).toMatchObject([
      { id: headers['muster-delivery'], state: 'delivered', attempts: 1, last_status: 200, last_error: null },
    ]);
  });
  test('is told to those that want it and are enabled', async () => {
    const wants = await create();
    const other = await create({ events: ['component.failed'] });
    const off = await create({ enabled: false });
    await endedSession();
    const told = await Promise.all([wants, other, off].map(async ({ name }) => (await deliveries(name)).length));
    expect(told).toEqual([1, 0, 0]);
  });
});

describe('a component that fails', () => {
  const report = (id: string, count: number) =>
    api.call('PATCH', `/v3/components/${id}`, {
      state_append: { clone_url: 'https://g/', playbook: 'p.yml', commit: 'a_failed', session_name: 'batcher-1' },
      error_count: count,
    });
  test('is told with the error that uses its policy up, and not again', async () => {
    const { name } = await create({ events: ['component.failed'] });
    await api.call('PUT', '/v3/components/wf-1', { desired_config: 'one', enabled: true });
    for (const count of [1, 2, 3, 4]) await report('wf-1', count);
    expect(await deliveries(name)).toMatchObject([
      { event: 'component.failed', data: { id: 'wf-1', error_count: 3, retry_policy: 3, session: 'batcher-1' } },
    ]);
    await api.call('PATCH', '/v3/components/wf-1', { error_count: 0 });
    await report('wf-1', 3);
    expect(await deliveries(name)).toHaveLength(2);
  });
  test('goes by its own policy, and by the option as it is now', async () => {
    const { name } = await create({ events: ['component.failed'] });
    await api.call('PUT', '/v3/components', [
      { id: 'wf-own', desired_config: 'one', retry_policy: 1 },
      { id: 'wf-never', desired_config: 'one', retry_policy: -1 },
      { id: 'wf-option', desired_config: 'one' },
    ]);
    await api.call('PATCH', '/v3/options', { default_batcher_retry_policy: 2 });
    for (const id of ['wf-own', 'wf-never', 'wf-option']) await report(id, 2);
    await api.call('PATCH', '/v3/options', { default_batcher_retry_policy: 3 });
    const told = (await deliveries(name)).map(({ data }: { data: { id: string } }) => data.id);
    expect(told.sort()).toEqual(['wf-option', 'wf-own']);
  });
});

test('a rollout that stops is told', async () => {
  const { name } = await create({ events: ['rollout.stopped'] });
  const now = new Date();
  await api.deps.db
    .insertInto('rollouts')
    .values({
      configuration: 'one',
      version: 'v1',
      state: 'rolling',
      stage: 'rolling',
      created_at: now,
      updated_at: now,
    })
    .execute();
  const stop = { state: 'stopped', reason: '3 of 20 failed', stopped_by: 'batcher', updated_at: now } as const;
  for (const change of [stop, stop]) await api.deps.db.updateTable('rollouts').set(change).execute();
  expect(await deliveries(name)).toMatchObject([
    { event: 'rollout.stopped', data: { configuration: 'one', reason: '3 of 20 failed', actor: 'batcher' } },
  ]);
});

describe('a receiver that does not take it', () => {
  test('is asked again, later each time, and given up after a day', async () => {
    const { name } = await create();
    await endedSession();
    answer = async () => ({ status: 500, retryAfter: 0 });
    const made = api.now.value.getTime();
    const pauses: number[] = [];
    for (let next = await deliver(name); next !== null; next = await deliver(name)) {
      pauses.push(Math.round((next.getTime() - api.now.value.getTime()) / 1_000));
      api.now.value = next;
    }
    expect(pauses.slice(0, 11)).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600]);
    expect(api.now.value.getTime() - made).toBeLessThanOrEqual(24 * 3_600_000 + 1_000);
    expect(await deliveries(name, '?state=failed')).toMatchObject([
      { state: 'failed', attempts: pauses.length + 1, last_status: 500, last_error: 'answers with status 500' },
    ]);
  });
  test('does not keep others waiting, and what it was not told is shown with the reason', async () => {
    const { name } = await create();
    for (let n = 0; n < 6; n += 1) await endedSession();
    answer = async ({ body }) => {
      if (body.includes(`ended-${count}"`))
        throw new Error('connect ECONNREFUSED https://me:geheim@hooks.example.test');
      return { status: 200, retryAfter: 0 };
    };
    expect(await deliver(name)).not.toBeNull();
    expect(await deliveries(name, '?state=delivered')).toHaveLength(5);
    const [late] = await deliveries(name, '?state=waiting');
    expect(late.last_error).toContain('ECONNREFUSED');
    expect(late.last_error).not.toContain('geheim');
    expect((await api.call('GET', `/api/v1/webhooks/${name}`)).body.waiting).toBe(1);
  });
  test('that was interrupted by us keeps its tries', async () => {
    const { name } = await create();
    await endedSession();
    const stop = new AbortController();
    answer = async () => {
      stop.abort();
      throw new Error('aborted');
    };
    await expect(deliver(name, stop.signal)).rejects.toThrow();
    expect(await deliveries(name)).toMatchObject([{ state: 'waiting', attempts: 0 }]);
  });
});

test('a test is a ping, whatever the webhook is for', async () => {
  const { name } = await create({ events: ['rollout.stopped'] });
  const ping = await api.call('POST', `/api/v1/webhooks/${name}/test`);
  expect([ping.status, ping.body]).toEqual([202, expect.objectContaining({ event: 'ping', state: 'waiting' })]);
  await deliver(name);
  expect(sent[0]?.headers['muster-event']).toBe('ping');
});

test('deliveries are read in pages, newest first', async () => {
  const { name } = await create();
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    ids.unshift((await api.call('POST', `/api/v1/webhooks/${name}/test`)).body.id);
    // Their times are kept to the millisecond, and those of one have no order.
    const made = Date.now();
    await eventually('a later millisecond', async () => Date.now() > made);
  }
  const read: string[] = [];
  for (let query = '?limit=2'; query !== ''; ) {
    const { body } = await api.call('GET', `/api/v1/webhooks/${name}/deliveries${query}`);
    read.push(...body.deliveries.map(({ id }: { id: string }) => id));
    query = body.next === null ? '' : `?${new URLSearchParams(body.next)}`;
  }
  expect(read).toEqual(ids);
});

test('what is a week old is forgotten', async () => {
  const { name } = await create();
  await api.call('POST', `/api/v1/webhooks/${name}/test`);
  await forgetOldNotifications(api.deps);
  expect(await deliveries(name)).toHaveLength(1);
  api.now.value = new Date(Date.now() + 8 * 24 * 3_600_000);
  await forgetOldNotifications(api.deps);
  expect(await deliveries(name)).toEqual([]);
});
