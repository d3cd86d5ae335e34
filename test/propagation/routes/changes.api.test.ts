/** Events, staged changes, simulations, and what all routes have in common: roles, keys, audit, parts that are not built. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { createTokenApi, type TokenApi } from '../../support/stack/token-api.ts';
import { MODEL_TABLES, type ModelApi, modelApi, PART, PART_FILES, said } from './model-api.ts';

let api: TokenApi;
let model: ModelApi;
beforeAll(async () => {
  api = await createTokenApi();
  model = modelApi((...request) => api.as(api.tokens.admin, ...request));
});
afterAll(() => api.close());
beforeEach(async () => {
  await sql.raw(`truncate ${MODEL_TABLES.join(', ')}, audit cascade`).execute(api.database.db);
  await model.definition();
  await model.create('db', 'web.1');
});

const LINES = 'on db.run changed web.1.reload\n# order\nafter db.run success web.1.run   # first db\n';
const TEXT = { 'content-type': 'text/plain; charset=utf-8' };
const texts = async (query = ''): Promise<string[]> => {
  const { events } = await model.made('GET', `/events${query}`);
  return events.map(({ text }: { text: string }) => text).sort();
};

describe('events', () => {
  test('are added as a line, as an object and as text, once each', async () => {
    const line = await model.call('POST', '/events', JSON.stringify('on db.run changed web.1.reload'));
    expect([line.status, line.body]).toEqual([
      201,
      expect.objectContaining({ type: 'react_on', parent: 'db', parent_action: 'run', on: 'changed', source: 'user' }),
    ]);
    expect((await model.call('POST', '/events', 'on db.run changed web.1.reload', TEXT)).body).toEqual(line.body);
    const object = { type: 'depends_on', parent: 'db.*', on: 'any', child: 'web.1.run' };
    expect((await model.made('POST', '/events', object)).text).toBe('after db.* any web.1.run');
    expect((await model.call('POST', '/events/bulk', LINES, TEXT)).status).toBe(201);
    expect((await model.call('POST', '/events/bulk', ['on db.run changed web.1.reload', object])).status).toBe(201);
    expect(await texts()).toEqual([
      'after db.* any web.1.run',
      'after db.run success web.1.run',
      'on db.run changed web.1.reload',
    ]);
  });

  test('are read, listed by their ends, and removed one by one or by a filter', async () => {
    const { events } = (await model.call('POST', '/events/bulk', LINES, TEXT)).body;
    const [{ id }] = events;
    expect(await model.made('GET', `/events/${id}`)).toEqual(events[0]);
    expect(await texts('?parent=web.1')).toEqual([]);
    expect(await texts('?child=web.1&resource=db')).toHaveLength(2);
    expect((await model.call('DELETE', `/events/${id}`)).status).toBe(204);
    expect(said(await model.call('DELETE', `/events/${id}`))).toEqual([404, 'event_not_found']);
    expect(said(await model.call('POST', '/events/delete', {}))).toEqual([400, 'bad_request']);
    expect(await model.made('POST', '/events/delete', { child: 'none' })).toEqual({ deleted: 0 });
    expect(await model.made('POST', '/events/delete', { child: 'web.1' })).toEqual({ deleted: 1 });
  });

  test('with mistakes are refused whole, each mistake with its place', async () => {
    const answer = await model.call('POST', '/events/bulk', `${LINES}on db.run odd web.1.run\nwhen\n`, TEXT);
    expect(said(answer)).toEqual([400, 'event_condition']);
    expect(answer.body.errors).toMatchObject([
      { code: 'event_condition', line: 4, column: 11 },
      { code: 'event_syntax', line: 5, column: 1 },
    ]);
    expect(await texts()).toEqual([]);
  });

  test.each([
    ['/events', '"on x.run any web.1.run"', undefined, [422, 'unknown_resource']],
    ['/events', '"on db.odd any web.1.run"', undefined, [422, 'action_not_defined']],
    ['/events', '', TEXT, [400, 'bad_request']],
    ['/events', '# nothing', TEXT, [400, 'event_syntax']],
    ['/events', LINES, TEXT, [400, 'event_syntax']],
    ['/events', 'on db.run\0', TEXT, [400, 'bad_request']],
    ['/events', '<x/>', { 'content-type': 'application/xml' }, [415, 'unsupported_media_type']],
    ['/events/bulk', '\n'.repeat(20_001), TEXT, [413, 'value_too_large']],
    ['/events/bulk', `on ${'x'.repeat(5_000)}.run any db.run`, TEXT, [413, 'value_too_large']],
    ['/connections', 'text', TEXT, [415, 'unsupported_media_type']],
  ] as const)('POST %s refuses %j', async (path, body, headers, expected) => {
    expect(said(await model.call('POST', path, body, headers))).toEqual(expected);
    expect(await texts()).toEqual([]);
  });
});

describe('changes', () => {
  test('are staged with the same uids, read, and discarded', async () => {
    const { changes, next } = await model.made('POST', '/changes/stage');
    expect(next).toBeNull();
    expect(changes).toMatchObject([
      { log_action: 'db.run', resource: 'db', action: 'run', state: 'staged', connections_diff: [] },
      { log_action: 'web.1.run' },
    ]);
    expect(changes[0].diff).not.toEqual([]);
    expect((await model.made('POST', '/changes/stage', {})).changes).toEqual(changes);
    const [{ uid }] = changes;
    expect(await model.made('GET', `/changes/staged/${uid}`)).toEqual(changes[0]);
    const page = await model.made('GET', '/changes/staged?limit=1');
    expect([page.changes.length, page.next]).toEqual([1, { limit: 1, after_id: uid }]);
    expect(await model.made('POST', '/changes/discard', { uids: [uid] })).toEqual({
      changes: [{ uid, log_action: 'db.run', resource: 'db', action: 'run' }],
    });
    expect(said(await model.call('GET', '/resources/db'))).toEqual([404, 'resource_not_found']);
    expect((await model.made('POST', '/changes/discard', { all: true })).changes).toHaveLength(1);
    expect(await model.staged()).toEqual([]);
  });

  test('are asked for by tags, by names, and of one resource', async () => {
    await model.made('POST', '/changes/stage', { tags: 'name=db', action: 'reload' });
    await model.made('POST', '/changes/stage', {
      tags: ['name=none', 'resource=part'],
      names: ['db'],
      action: 'update',
    });
    const { changes } = await model.made('POST', '/resources/web.1/stage', { action: 'reload' });
    expect(changes.map(({ log_action }: { log_action: string }) => log_action)).toContain('web.1.reload');
    expect(changes.every(({ resource }: { resource: string }) => resource === 'web.1')).toBe(true);
    expect((await model.call('POST', '/resources/web.1/stage')).status).toBe(200);
    expect((await model.staged()).sort()).toEqual([
      ...['db.reload', 'db.run', 'db.update', 'web.1.reload', 'web.1.run', 'web.1.update'],
    ]);
  });

  test('that were committed are listed newest first', async () => {
    const uids = ['11111111-2222-4333-8444-555555555551', '11111111-2222-4333-8444-555555555552'];
    for (const uid of uids) {
      const item = { uid, resource: 'db', action: 'run', base_path: 'apps/part/1.0.0', tags: [], plan: null };
      const diff = JSON.stringify([['add', [], [['v', 'x']]]]);
      const row = { ...item, diff, connections_diff: '[]', committed_at: api.now.value };
      await api.database.db.insertInto('propagation_history').values(row).execute();
    }
    const { changes, next } = await model.made('GET', '/changes/history?limit=1');
    expect(changes).toMatchObject([{ uid: uids[1], log_action: 'db.run', details: ['++ v: x'] }]);
    expect(next).toEqual({ limit: 1, after_id: uids[1] });
    expect(await model.made('GET', `/changes/history/${uids[0]}`)).toMatchObject({ uid: uids[0] });
  });

  test.each([
    ['POST', '/changes/stage', { tags: '(' }, [400, 'tag_syntax']],
    ['POST', '/changes/stage', { names: ['none'] }, [422, 'unknown_resource']],
    ['POST', '/changes/stage', { names: ['db'], action: 'odd' }, [422, 'action_not_defined']],
    ['POST', '/changes/stage', { action: 'run' }, [422, 'validation_failed']],
    ['POST', '/changes/stage', { odd: 1 }, [400, 'bad_request']],
    ['POST', '/changes/discard', { uids: ['x'] }, [404, 'change_not_found']],
    ['POST', '/changes/discard', { all: false }, [400, 'bad_request']],
    ['GET', '/changes/staged/x', undefined, [404, 'change_not_found']],
    ['GET', '/changes/history/x', undefined, [404, 'change_not_found']],
    ['GET', '/changes/history?after_id=x', undefined, [400, 'bad_request']],
  ] as const)('%s %s %j is refused', async (method, path, body, expected) => {
    expect(said(await model.call(method, path, body))).toEqual(expected);
    expect(await model.staged()).toEqual(['db.run', 'web.1.run']);
  });
});

describe('a simulation', () => {
  const GIVEN = { staged: ['a.run'], events: 'on a.run changed b.run\non b.run changed a.run' };

  test('answers what the rules answer, whatever the model holds', async () => {
    const { status, body, headers } = await model.call('POST', '/simulate', GIVEN);
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(body.order).toEqual(['a.run#0', 'b.run', 'a.run#1']);
    expect(body.run.result).toBe('succeeded');
  });

  test.each([
    [{ ...GIVEN, tasks: [] }, [422, 'not_supported']],
    [{ ...GIVEN, filter: {} }, [422, 'not_supported']],
    [{ ...GIVEN, odd: 1 }, [400, 'bad_request']],
    [{ ...GIVEN, resources: ['a'] }, [422, 'unknown_resource']],
    [{ ...GIVEN, actions: { 'a.run': { repeatable: false } } }, [422, 'cycle_not_repeatable']],
    ['{', [400, 'body_not_json']],
    ['', [400, 'bad_request']],
  ] as const)('of %j is refused', async (body, expected) => {
    expect(said(await model.call('POST', '/simulate', body))).toEqual(expected);
  });

  test('of a large plan lets other requests pass', async () => {
    const events = Array.from({ length: 20_000 }, (_, n) => `on r${n}.run changed r${(n + 1) % 20_000}.run`).join('\n');
    let isDone = false;
    const large = model.call('POST', '/simulate', { staged: ['r0.run'], events }).finally(() => {
      isDone = true;
    });
    expect((await model.call('GET', '/repositories')).status).toBe(200);
    expect(isDone).toBe(false);
    expect((await large).body.run.result).toBe('succeeded');
  });
});

describe('every route', () => {
  test.each([
    ['reader', 'GET', '/resources', undefined, 200],
    ['reader', 'POST', '/simulate', { staged: [], events: '' }, 200],
    ['reader', 'POST', '/resources', { name: 'c', from: 'apps/part' }, 403],
    ['reader', 'POST', '/changes/stage', {}, 403],
    ['operator', 'POST', '/resources', { name: 'c', from: 'apps/part' }, 201],
    ['operator', 'POST', '/changes/stage', {}, 200],
    ['operator', 'POST', '/repositories', { name: 'more' }, 403],
    ['operator', 'PUT', PART.replace('/api/v1/propagation', ''), { files: PART_FILES }, 403],
    ['operator', 'DELETE', '/repositories/apps', undefined, 403],
    ['node', 'GET', '/resources', undefined, 403],
  ] as const)('knows roles: %s %s %s %j is %i', async (role, method, path, body, status) => {
    const own = modelApi((...request) => api.as(api.tokens[role], ...request));
    expect((await own.call(method, path, body)).status).toBe(status);
  });

  test('does once what comes twice under one key', async () => {
    const key = { 'idempotency-key': 'push-1' };
    const first = await model.call('POST', '/resources/db/stage', { action: 'reload' }, key);
    await model.made('POST', '/changes/discard', { uids: [first.body.changes.at(-1).uid] });
    const again = await model.call('POST', '/resources/db/stage', { action: 'reload' }, key);
    expect([again.status, again.body, again.headers['idempotency-replayed']]).toEqual([200, first.body, 'true']);
    expect(await model.staged()).not.toContain('db.reload');
    const other = await model.call('POST', '/resources/db/stage', { action: 'run' }, key);
    expect(said(other)).toEqual([422, 'idempotency_key_reused']);
  });

  test('is in the audit with who asked and by which route', async () => {
    const own = modelApi((...request) => api.as(api.tokens.operator, ...request));
    await own.made('PATCH', '/resources/db', { inputs: { v: 'x' } });
    await own.made('POST', '/connections', { emitter: 'db', receiver: 'web.1', mapping: ['v'], events: 'none' });
    const { records } = (await api.as(api.tokens.admin, 'GET', '/api/v1/audit?actor=token/ops')).body;
    const shown = records.map(({ kind, action, name, via }: Record<string, string>) => [kind, action, name, via]);
    expect(shown).toEqual([
      ['connection', 'create', 'db::v -> web.1::v', 'POST /api/v1/propagation/connections'],
      ['resource', 'update', 'db', 'PATCH /api/v1/propagation/resources/:name'],
    ]);
  });

  test.each([
    ['POST', '/resources/validate', 'validate'],
    ['POST', '/resources/db/actions/run', 'actions'],
    ['GET', '/resources/db/inputs', 'inputs'],
    ['PUT', '/resources/db/inputs/v', 'inputs'],
    ['GET', '/resources/db/inputs/v/backtrack', 'backtrack'],
    ['POST', '/resources/db/prefetch', 'prefetch'],
    ['GET', '/connections/graph', 'graph'],
    ['GET', '/events/traverse/db', 'traverse'],
    ['POST', '/changes/history/x/revert', 'revert'],
    ['POST', '/composer', 'composer'],
    ['GET', '/export', 'export'],
    ['GET', '/auto', 'auto'],
    ['PUT', '/auto/nightly', 'auto'],
  ] as const)('of a part that is not built says so: %s %s', async (method, path, part) => {
    const answer = await model.call(method, path, method === 'GET' ? undefined : {});
    expect([said(answer), answer.body.detail]).toEqual([[422, 'not_supported'], expect.stringContaining(`(${part})`)]);
  });
});
