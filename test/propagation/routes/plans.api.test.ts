/** Changes made into plans, and plans as they are read. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { said } from './model-api.ts';
import { openPlanApi, PLAN_TABLES, type PlanApi } from './plan-api.ts';

let plans: PlanApi;
beforeAll(async () => {
  plans = await openPlanApi();
});
afterAll(() => plans.api.close());
beforeEach(async () => {
  await sql.raw(`truncate ${PLAN_TABLES.join(', ')} cascade`).execute(plans.db);
  await plans.definition();
});

const NOWHERE = '00000000-0000-4000-8000-000000000000';
const text = (path: string, accept: string) => plans.call('GET', path, undefined, { accept });

/** A loop of three: `lb` runs, `app` follows, and `lb` runs again. */
async function loop(): Promise<string> {
  await plans.data('db', 'lb', 'app');
  const events = ['after db.run success lb.run', 'after lb.run success app.run', 'after app.run success lb.run'];
  await plans.made('POST', '/events/bulk', events);
  return plans.process({ name: 'loop' });
}

describe('process', () => {
  test('shows a plan without storing it, or stores it and answers it', async () => {
    await plans.data('db', 'web');
    await plans.made('POST', '/connections', { emitter: 'db', receiver: 'web', mapping: ['v'] });
    const preview = await plans.call('POST', '/changes/process?preview=true', {});
    expect([preview.status, preview.body]).toEqual([
      200,
      {
        nodes: ['db.run', 'web.run'].map((id) => expect.objectContaining({ id, origin: 'staged' })),
        edges: [{ from: 'db.run', to: 'web.run', type: 'depends_on', on: 'success' }],
        cycles: [],
        suppressed: [],
        order: ['db.run', 'web.run'],
      },
    ]);
    expect((await plans.made('GET', '/plans')).plans).toEqual([]);
    const stored = await plans.call('POST', '/changes/process', { name: 'first' });
    expect([stored.status, stored.body]).toEqual([
      201,
      expect.objectContaining({ name: 'first', state: 'built', percent: 0, run_number: 0 }),
    ]);
    expect(stored.body.summary).toMatchObject({ pending: 2, success: 0, blocked: 0, error_retry: 0 });
    const { changes } = await plans.made('GET', '/changes/staged');
    expect(changes.map(({ plan }: { plan: string }) => plan)).toEqual([stored.body.id, stored.body.id]);
  });

  test('takes what matches tags, and names a plan by itself', async () => {
    await plans.data('a', 'b');
    await plans.made('PUT', '/resources/a/tags', { tags: ['zone=a'] });
    const id = await plans.process({ tags: 'zone=a' });
    expect(await plans.made('GET', `/plans/${id}`)).toMatchObject({ name: 'system_log' });
    const { nodes } = await plans.made('GET', `/plans/${id}/nodes`);
    expect(nodes.map((node: { id: string }) => node.id)).toEqual(['a.run']);
    expect((await plans.made('POST', '/changes/process?preview=true', { tags: ['name=b'] })).order).toEqual(['b.run']);
  });

  test('refuses what cannot be planned, and changes nothing', async () => {
    expect(said(await plans.call('POST', '/changes/process', {}))).toEqual([409, 'nothing_staged']);
    await plans.data('a');
    for (const member of ['pause_before', 'tag_limits']) {
      const later = await plans.call('POST', '/changes/process', { [member]: 'x' });
      expect([said(later), later.body.detail]).toEqual([[422, 'not_supported'], expect.stringContaining(member)]);
    }
    expect(said(await plans.call('POST', '/changes/process', { odd: 1 }))).toEqual([400, 'bad_request']);
    expect(said(await plans.call('POST', '/changes/process', { tags: '(' }))).toEqual([400, 'tag_syntax']);
    expect(said(await plans.call('POST', '/changes/process', { tags: 'k=none' }))).toEqual([409, 'nothing_staged']);
    expect(said(await plans.call('POST', '/changes/process?preview=odd', {}))).toEqual([400, 'bad_request']);
    const id = await plans.process();
    for (const member of ['pause_before', 'tag_limits']) {
      const later = await plans.call('POST', `/plans/${id}/run`, { [member]: 'x' });
      expect([said(later), later.body.detail]).toEqual([[422, 'not_supported'], expect.stringContaining(member)]);
    }
    expect(said(await plans.call('POST', `/plans/${id}/run`, { odd: 1 }))).toEqual([400, 'bad_request']);
    expect((await plans.made('GET', `/plans/${id}`)).state).toBe('built');
    const again = await plans.call('POST', '/changes/process', {});
    expect([said(again), again.body.detail]).toEqual([[409, 'item_in_plan'], expect.stringContaining(id)]);
    expect((await plans.made('GET', '/plans')).plans).toHaveLength(1);
  });

  test('is simulated before it is done, by a reader too', async () => {
    await plans.data('db', 'web');
    await plans.made('POST', '/connections', { emitter: 'db', receiver: 'web', mapping: ['v'] });
    const answer = await plans.as('reader').call('POST', '/changes/simulate', { outcomes: { 'db.run': 'failed' } });
    expect([answer.status, answer.body.run]).toEqual([
      200,
      expect.objectContaining({ result: 'failed', statuses: { 'db.run': 'error', 'web.run': 'blocked' } }),
    ]);
    const id = await plans.process();
    const stored = await plans.as('reader').made('POST', `/plans/${id}/simulate`, {});
    expect(stored.run).toMatchObject({ result: 'succeeded' });
    expect(said(await plans.call('POST', `/plans/${id}/simulate`, { outcomes: { x: 'odd' } }))).toEqual([
      400,
      'bad_request',
    ]);
    expect(said(await plans.call('POST', `/plans/${NOWHERE}/simulate`, {}))).toEqual([404, 'plan_not_found']);
  });
});

describe('a plan', () => {
  test('is listed newest first, in pages, by its state and by how its id begins', async () => {
    await plans.data('a', 'b', 'c');
    const made: string[] = [];
    for (const name of ['a', 'b', 'c']) made.unshift(await plans.process({ tags: `name=${name}` }));
    const ids = async (query: string) =>
      (await plans.made('GET', `/plans${query}`)).plans.map(({ id }: { id: string }) => id);
    expect(await ids('')).toEqual(made);
    const { next } = await plans.made('GET', '/plans?limit=2&state=built');
    expect(next).toMatchObject({ limit: 2, after_id: made[1], state: 'built' });
    expect(await ids(`?limit=2&after_id=${next.after_id}`)).toEqual(made.slice(2));
    expect(await ids('?state=running')).toEqual([]);
    expect(await ids(`?prefix=${made[1]?.slice(0, 13)}`)).toEqual([made[1]]);
    expect(await ids(`?prefix=${made[1]?.toUpperCase()}`)).toEqual([made[1]]);
    expect(said(await plans.call('GET', '/plans?prefix=last'))).toEqual([400, 'bad_request']);
    expect(said(await plans.call('GET', '/plans?state=odd'))).toEqual([400, 'bad_request']);
    expect(said(await plans.call('GET', `/plans?after_id=${NOWHERE}`))).toEqual([404, 'plan_not_found']);
  });

  test('has nodes, edges and loops', async () => {
    const id = await loop();
    expect((await plans.made('GET', `/plans/${id}`)).cycles).toEqual([
      { members: ['app.run', 'lb.run'], head: 'lb.run', repeated: ['lb.run'], closed_by: [['app.run', 'lb.run']] },
    ]);
    const first = await plans.made('GET', `/plans/${id}/nodes?limit=3`);
    expect(first.nodes.map((node: { id: string }) => node.id)).toEqual(['db.run', 'lb.run#0', 'app.run']);
    const rest = await plans.made('GET', `/plans/${id}/nodes?after_id=${encodeURIComponent(first.next.after_id)}`);
    expect(rest).toMatchObject({ nodes: [{ id: 'lb.run#1', origin: 'repeat', occurrence: 1 }], next: null });
    const edges: object[] = [];
    for (let query: string | null = '?limit=1'; query !== null; ) {
      const page = await plans.made('GET', `/plans/${id}/edges${query}`);
      edges.push(...page.edges);
      query = page.next === null ? null : `?limit=1&after_id=${encodeURIComponent(page.next.after_id)}`;
    }
    expect(edges).toEqual([
      { from: 'app.run', to: 'lb.run#1', type: 'depends_on', on: 'success' },
      { from: 'db.run', to: 'lb.run#0', type: 'depends_on', on: 'success' },
      { from: 'lb.run#0', to: 'app.run', type: 'depends_on', on: 'success' },
      { from: 'lb.run#0', to: 'lb.run#1', type: 'sequence', on: null },
    ]);
    expect(await plans.made('GET', `/plans/${id}/nodes/db.run%230`)).toMatchObject({ id: 'db.run', status: 'pending' });
    const unknown = await plans.call('GET', `/plans/${id}/nodes/lb.run`);
    expect([said(unknown), unknown.body.detail]).toEqual([
      [404, 'node_not_found'],
      expect.stringContaining('lb.run#1'),
    ]);
    expect(said(await plans.call('GET', `/plans/${id}/edges?after_id=x`))).toEqual([400, 'bad_request']);
  });

  test('tells why a node is in it', async () => {
    await plans.work('db', 'web/1');
    await plans.made('POST', '/events', JSON.stringify('on db.run changed web/1.reload'));
    const id = await plans.process();
    const path = `/plans/${id}/nodes/${encodeURIComponent('web/1.reload')}/explain`;
    expect(await plans.made('GET', path)).toMatchObject({
      node: 'web/1.reload',
      origin: 'reaction',
      chain: [{ from: 'db.run', event: 'on db.run changed web/1.reload', to: 'web/1.reload' }],
      decision: { status: 'pending' },
    });
  });

  test('is reported as JSON and as text, before and after its run', async () => {
    const id = await loop();
    const before = await text(`/plans/${id}/report`, 'text/plain');
    expect([before.headers['content-type'], before.body]).toEqual([
      'text/plain; charset=utf-8',
      expect.stringContaining('lb.run#0 -> PENDING\n'),
    ]);
    await plans.made('POST', `/plans/${id}/run`);
    await plans.finish(id);
    const report = await plans.made('GET', `/plans/${id}/report`);
    expect(report).toMatchObject({ percent: 100, total_delta: 0, is_cut: false, unsettled: [] });
    expect(report.nodes[0]).toMatchObject({ node: 'db.run', status: 'success', outcome: 'created', attempts: 0 });
    expect((await text(`/plans/${id}/report`, 'text/plain')).body).toBe(
      [
        ...['db.run', 'lb.run#0', 'app.run', 'lb.run#1'].map((node) => `${node} -> SUCCESS`),
        ...['Total Delta: 0', 'Total Time: 0', ''],
      ].join('\n'),
    );
  });

  test('is drawn as DOT and as a tree, or a part of it', async () => {
    const id = await loop();
    const dot = await text(`/plans/${id}/graph`, '*/*');
    expect([dot.headers['content-type'], dot.body]).toEqual([
      'text/vnd.graphviz; charset=utf-8',
      expect.stringContaining('"app.run" -> "lb.run#1" [label="after success\\ncloses the loop"'),
    ]);
    const tree = await text(`/plans/${id}/graph?around=db.run&depth=1`, 'text/plain');
    expect(tree.body).toBe('db.run [pending]\n`- after success: lb.run#0 [pending]\n');
    expect(said(await text(`/plans/${id}/graph?around=odd.run`, '*/*'))).toEqual([404, 'node_not_found']);
  });

  test('is drawn in parts alone where it is large', async () => {
    await plans.data('a');
    const id = await plans.process();
    await sql`insert into propagation_plan_nodes select (jsonb_populate_record(n, jsonb_build_object(
      'number', n.number + k, 'id', 'b' || k || '.run', 'base', 'b' || k || '.run'))).*
      from propagation_plan_nodes n, generate_series(1, 500) k where n.plan = ${id}::uuid`.execute(plans.db);
    await sql`update propagation_plans set counts = counts || '{"pending": 501}' where id = ${id}::uuid`.execute(
      plans.db,
    );
    expect(said(await text(`/plans/${id}/graph`, '*/*'))).toEqual([422, 'graph_too_large']);
    expect((await text(`/plans/${id}/graph?around=a.run`, 'text/plain')).body).toBe('a.run [pending]\n');
  });

  test.each([
    '',
    '/nodes',
    '/nodes/x',
    '/nodes/x/explain',
    '/nodes/x/attempts',
    '/edges',
    '/report',
    '/graph',
    '/events',
  ])('that is not there is said to be so: GET /plans/{id}%s', async (path) => {
    for (const id of [NOWHERE, 'odd', "a'b"]) {
      expect(said(await plans.call('GET', `/plans/${encodeURIComponent(id)}${path}`))).toEqual([404, 'plan_not_found']);
    }
  });

  test.each(['', '/restart', '/reset', '/filter', '/noop', '/approve'])(
    'has commands that are not built, which say so: POST /plans%s',
    async (verb) => {
      const path = verb === '' ? '/plans' : `/plans/${NOWHERE}${verb}`;
      expect(said(await plans.call('POST', path, {}))).toEqual([422, 'not_supported']);
    },
  );
});
