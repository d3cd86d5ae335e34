/** Routes of operators: what they show, what people may ask, and what that leaves on record. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openRun } from '../../../control/runs/open-run.ts';
import { runIdOfReconcile } from '../../../domain/operator/reconcile.ts';
import { RECONCILE_KIND } from '../../../domain/operator/resource-words.ts';
import { appendWrites } from '../../../store/operator/writes.ts';
import { appendEvents, appendOutput } from '../../../store/runs/streams.ts';
import { openEvents } from '../../sessions/streams/event-reader.ts';
import { createTokenApi, type TokenApi } from '../../support/stack/token-api.ts';
import { addOperator, addWidget, begin, end, OPERATOR } from './fixtures.ts';

let api: TokenApi;
let base: string;
beforeAll(async () => {
  api = await createTokenApi();
  await api.app.listen({ port: 0, host: '127.0.0.1' });
  base = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  await addOperator(api.deps.db, api.now.value);
});
afterAll(() => api.close());

const as = (role: 'reader' | 'operator') => ({ authorization: `Bearer ${api.tokens[role]}` });
const get = (path: string) => api.call('GET', `/api/v1/operator${path}`, undefined, as('reader'));
const post = (path: string, body?: unknown, role: 'reader' | 'operator' = 'operator') =>
  api.call('POST', `/api/v1/operator${path}`, body, as(role));
const auditOf = async (name: string) => {
  const admin = { authorization: `Bearer ${api.tokens.admin}` };
  const { body } = await api.call('GET', '/api/v1/audit?limit=100', undefined, admin);
  return body.records.filter((record: { name: string }) => record.name === name);
};

describe('operators', () => {
  test('show their hosts; one without a sign for 45 s is not live', async () => {
    expect((await get('')).body.operators).toMatchObject([
      { name: OPERATOR, version: '1.2.3', hosts: [{ host: 'disk-1', live: true, engine: { ok: true, reason: null } }] },
    ]);
    const { value } = api.now;
    api.now.value = new Date(value.getTime() + 46_000);
    expect((await get('')).body.operators[0].hosts).toMatchObject([{ live: false, database: { ok: false } }]);
    api.now.value = value;
  });

  test('show what they watch', async () => {
    const { body } = await get('/watches?operator=demo');
    expect(body.watches).toMatchObject([
      { kind: 'Widget', state: 'starting', slots: 4, finalizer: 'demo.io/finalizer' },
    ]);
    expect(await get('/watches?operator=other')).toMatchObject({ status: 404, body: { code: 'operator_not_known' } });
  });
});

describe('resources', () => {
  test('are listed in pages, by kind in any case, name, namespace and phase', async () => {
    for (const name of ['l1', 'l2', 'l3']) await addWidget(api.deps.db, name, api.now.value, { namespace: 'list' });
    const first = (await get('/resources?namespace=list&kind=widget&limit=2')).body;
    expect(first.resources.map(({ name }: { name: string }) => name)).toEqual(['l1', 'l2']);
    const more = new URLSearchParams(
      Object.entries(first.next as Record<string, unknown>).flatMap(([key, value]) =>
        value === undefined || value === null ? [] : [[key, String(value)] as [string, string]],
      ),
    );
    const second = (await get(`/resources?${more}`)).body;
    expect(second).toMatchObject({ resources: [{ name: 'l3', phase: 'queued', generation: 1 }], next: null });
    expect((await get('/resources?namespace=list&phase=paused')).body.resources).toEqual([]);
    expect((await get('/resources?name=l2')).body.resources).toHaveLength(1);
  });

  test.each([
    ['no id', 'none'],
    ['an id of nothing', '00000000-0000-4000-8000-000000000000'],
    ['a long text', 'x'.repeat(2_000)],
  ])('%s is not found, whatever is asked of it', async (_, id) => {
    const missing = { status: 404, body: { code: 'operator_resource_not_found' } };
    expect(await get(`/resources/${id}`)).toMatchObject(missing);
    expect(await get(`/resources/${id}/reconciles`)).toMatchObject(missing);
    for (const verb of ['reconcile', 'cancel', 'pause', 'resume'])
      expect(await post(`/resources/${id}/${verb}`)).toMatchObject(missing);
  });

  test('are for operators to change', async () => {
    const id = await addWidget(api.deps.db, 'roles', api.now.value);
    for (const verb of ['reconcile', 'cancel', 'pause', 'resume'])
      expect(await post(`/resources/${id}/${verb}`, undefined, 'reader')).toMatchObject({ status: 403 });
    expect(await post('/drain', { run: false }, 'reader')).toMatchObject({ status: 403 });
  });
});

describe('what people ask for', () => {
  test('a reconcile by hand is due at once, with who asked; it is audited', async () => {
    const id = await addWidget(api.deps.db, 'manual', api.now.value, { cause: null });
    expect(await post(`/resources/${id}/reconcile`)).toMatchObject({ status: 202, body: { phase: 'queued' } });
    const row = await api.deps.db
      .selectFrom('operator_resources')
      .select(['cause', 'due_class', 'due_at'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ cause: { type: 'manual', by: expect.stringContaining('ops') }, due_class: 2 });
    expect(await auditOf('demo.io/v1 Widget ns/manual')).toMatchObject([
      { action: 'reconcile', kind: 'operator-resource' },
    ]);
  });

  test('a pause ends by itself or by hand; meanwhile no reconcile is begun by hand', async () => {
    const id = await addWidget(api.deps.db, 'paused', api.now.value);
    const until = new Date(api.now.value.getTime() + 60_000);
    const paused = await post(`/resources/${id}/pause`, { until: until.toISOString() });
    expect(paused).toMatchObject({ status: 202, body: { phase: 'paused', paused: true } });
    expect(Date.parse(paused.body.next_attempt_at)).toBe(until.getTime());
    expect(await post(`/resources/${id}/reconcile`)).toMatchObject({ status: 409, body: { code: 'operator_paused' } });
    const { value } = api.now;
    api.now.value = new Date(until.getTime() + 1);
    expect((await get(`/resources/${id}`)).body).toMatchObject({ phase: 'queued', paused: false, paused_until: null });
    api.now.value = value;
    expect(await post(`/resources/${id}/resume`)).toMatchObject({ status: 202, body: { paused: false } });
    const actions = (await auditOf('demo.io/v1 Widget ns/paused')).map(({ action }: { action: string }) => action);
    expect(actions.sort()).toEqual(['pause', 'resume']);
  });

  test.each([
    ['a time that has gone by', { until: '2020-01-01T00:00:00Z' }],
    ['no time', { until: 'soon' }],
    ['another member', { til: '2126-01-01T00:00:00Z' }],
  ])('a pause until %s is refused and changes nothing', async (_, body) => {
    const id = await addWidget(api.deps.db, 'refused', api.now.value);
    expect(await post(`/resources/${id}/pause`, body)).toMatchObject({ status: 400, body: { code: 'bad_request' } });
    expect((await get(`/resources/${id}`)).body.paused).toBe(false);
  });

  test('a cancel of what runs names who asked, once; of what waits it is over at once; of nothing it is refused', async () => {
    const { db } = api.deps;
    const running = await addWidget(db, 'running', api.now.value);
    const record = await begin(db, running, api.now.value);
    expect(await post(`/resources/${running}/cancel`)).toMatchObject({ status: 202, body: { phase: 'running' } });
    expect((await get(`/reconciles/${record.id}`)).body).toMatchObject({
      outcome: null,
      cancelled_by: expect.stringContaining('ops'),
    });
    const waiting = await addWidget(db, 'waiting', api.now.value);
    expect(await post(`/resources/${waiting}/cancel`)).toMatchObject({ status: 202, body: { phase: 'waiting' } });
    expect((await get(`/resources/${waiting}/reconciles`)).body.reconciles).toMatchObject([
      { outcome: 'cancelled', cause: { type: 'created' }, host: '', run_id: null },
    ]);
    expect(await post(`/resources/${waiting}/cancel`)).toMatchObject({
      status: 404,
      body: { code: 'operator_reconcile_not_found' },
    });
  });

  test('a drain names its operator, and marks the resources whose finalizer is to go', async () => {
    const { db } = api.deps;
    await addOperator(db, api.now.value, 'second');
    const id = await addWidget(db, 'drained', api.now.value, { operator: 'second', cause: null });
    expect(await post('/drain', { run: true })).toMatchObject({ status: 400, body: { code: 'bad_request' } });
    expect(await post('/drain', { operator: 'none', run: true })).toMatchObject({ status: 404 });
    expect(await post('/drain', {})).toMatchObject({ status: 400 });
    const drained = await post('/drain', { operator: 'second', run: false });
    expect(drained).toMatchObject({ status: 202, body: { operator: 'second', resources: 1 } });
    const row = await db.selectFrom('operator_resources').select(['drain', 'due_at']).where('id', '=', id).execute();
    expect(row).toEqual([{ drain: 'now', due_at: api.now.value }]);
    expect(await auditOf('second')).toMatchObject([{ action: 'drain', kind: 'operator' }]);
  });

  test('what is not built is refused by name', async () => {
    const id = await addWidget(api.deps.db, 'check', api.now.value);
    expect(await post(`/resources/${id}/reconcile`, { check: true })).toMatchObject({
      status: 422,
      body: { code: 'not_supported', detail: expect.stringContaining('check') },
    });
  });
});

describe('a reconcile', () => {
  test('shows cause, counters of each host and what it wrote; its log is followed until the record has ended', async () => {
    const { db } = api.deps;
    const resource = await addWidget(db, 'logged', api.now.value);
    const record = await begin(db, resource, api.now.value);
    const runId = runIdOfReconcile(record.id);
    const reader = await openEvents(`${base}/api/v1/operator/reconciles/${record.id}/logs`, as('reader'));
    const owner = { kind: RECONCILE_KIND, id: record.id };
    await openRun(
      db,
      { id: runId, sessionId: null, owner, streamId: runId, layer: 0, attempt: 1, host: 'disk-1' },
      api.now.value,
    );
    const place = { streamId: runId, runId, layer: 0, attempt: 1 };
    await appendOutput(db, place, 0, 'PLAY one\n');
    const stats = { event: 'playbook_on_stats', event_data: { ok: { a: 2, b: 1 }, changed: { a: 1 } } };
    const event = { time: api.now.value, type: 'stats', host: null, line: 1, data: { runner: stats } };
    await appendEvents(db, place, [event]);
    const write = { verb: 'create', group: '', version: 'v1', kind: 'Secret', namespace: 'ns', name: 's' };
    await appendWrites(db, runId, [{ time: api.now.value, write: { ...write, subresource: '' } }]);
    await reader.until(() => reader.frames.length > 0);
    expect(await end(db, record, 'ok', api.now.value)).toBe(true);
    await reader.ended;
    expect(reader.frames.map(({ event: kind }) => kind)).toEqual(['log', 'end']);
    expect(reader.frames.at(-1)).toMatchObject({ data: { id: record.id, outcome: 'ok', messages: [] } });
    expect((await get(`/reconciles/${record.id}`)).body).toMatchObject({
      ...{ outcome: 'ok', run_id: runId, cause: { type: 'created' }, generation: 1, host: 'disk-1' },
      writes: { total: 1, listed: [{ verb: 'create', kind: 'Secret' }] },
      host_counters: { a: { ok: 2, changed: 1 }, b: { ok: 1, changed: 0 } },
    });
    expect((await get(`/resources/${resource}/reconciles`)).body).toMatchObject({
      reconciles: [{ id: record.id, writes: { total: 1, listed: null }, host_counters: null }],
      next: null,
    });
    const events = (await get(`/reconciles/${record.id}/events?type=write`)).body;
    expect(events.events).toMatchObject([{ type: 'write', kind: 'Secret' }]);
  });

  test('has no events and no log before it has a run', async () => {
    const resource = await addWidget(api.deps.db, 'early', api.now.value);
    const { id } = await begin(api.deps.db, resource, api.now.value);
    expect((await get(`/reconciles/${id}/logs`)).body).toEqual({ logs: [], cursor: 0, next: null });
  });
});
