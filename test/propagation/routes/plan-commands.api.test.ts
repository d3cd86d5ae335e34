/** What users ask of plans, what they hear of them live, and what ran for their nodes. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { streamOfAttempt } from '../../../control/propagation/show-plan.ts';
import { openRun } from '../../../control/runs/open-run.ts';
import { appendEvents, appendOutput } from '../../../store/runs/streams.ts';
import { openEvents } from '../../sessions/streams/event-reader.ts';
import { said } from './model-api.ts';
import { openPlanApi, PLAN_TABLES, type PlanApi } from './plan-api.ts';

let plans: PlanApi;
let base: string;
beforeAll(async () => {
  plans = await openPlanApi();
  await plans.api.app.listen({ port: 0, host: '127.0.0.1' });
  base = `http://127.0.0.1:${(plans.api.app.server.address() as AddressInfo).port}/api/v1/propagation`;
});
afterAll(() => plans.api.close());
beforeEach(async () => {
  await sql.raw(`truncate ${PLAN_TABLES.join(', ')} cascade`).execute(plans.db);
  plans.told.length = 0;
  await plans.definition();
});

const NOWHERE = '00000000-0000-4000-8000-000000000000';
const command = (plan: string, verb: string, body?: unknown) => plans.call('POST', `/plans/${plan}/${verb}`, body);
const stateOf = async (plan: string) => (await plans.made('GET', `/plans/${plan}`)).state;
const reader = () => ({ authorization: `Bearer ${plans.api.tokens.reader}` });

/** A plan of one action that is in progress. */
async function going(): Promise<{ plan: string; attempt: string }> {
  await plans.work('web/1');
  const plan = await plans.process();
  await plans.made('POST', `/plans/${plan}/run`);
  const [attempt = ''] = await plans.step(plan);
  return { plan, attempt };
}
const NODE = `nodes/${encodeURIComponent('web/1.run')}`;

describe('a command', () => {
  test('is on record when it is answered, and Temporal is told', async () => {
    await plans.data('a');
    const plan = await plans.process();
    const run = await command(plan, 'run');
    expect([run.status, run.body]).toEqual([202, expect.objectContaining({ state: 'running', run_number: 1 })]);
    expect(plans.told).toEqual([`plan/${plan} pokePlan`]);
    expect((await command(plan, 'run')).body).toMatchObject({ state: 'running', run_number: 1 });
    expect((await command(plan, 'pause')).body.state).toBe('paused');
    expect((await command(plan, 'unpause')).body.state).toBe('running');
    expect((await command(plan, 'stop')).body).toMatchObject({ state: 'running', wish: 'stop' });
    expect((await command(plan, 'abort')).body.wish).toBe('abort');
    await plans.finish(plan);
    expect(await stateOf(plan)).toBe('stopped');
    expect((await command(plan, 'resume')).body).toMatchObject({ state: 'running', run_number: 2, wish: null });
    await plans.finish(plan);
    expect(await stateOf(plan)).toBe('succeeded');
  });

  test('that the state forbids is refused', async () => {
    await plans.data('a');
    const plan = await plans.process();
    for (const verb of ['stop', 'abort', 'pause', 'unpause', 'resume', 'retry']) {
      expect([verb, ...said(await command(plan, verb))]).toEqual([verb, 409, 'plan_state']);
    }
    await command(plan, 'run');
    expect(said(await command(plan, 'abandon'))).toEqual([409, 'plan_state']);
    expect(said(await plans.call('DELETE', `/plans/${plan}`))).toEqual([409, 'plan_state']);
    for (const verb of ['run', 'stop', 'abort', 'pause', 'unpause', 'resume', 'retry', 'abandon']) {
      expect(said(await command(NOWHERE, verb))).toEqual([404, 'plan_not_found']);
    }
  });

  test('retry takes failed nodes, all or some, and names those that are not there', async () => {
    const { plan, attempt } = await going();
    await plans.end(attempt, 'failed', { message: 'exit status 1' });
    await plans.finish(plan);
    expect(await stateOf(plan)).toBe('failed');
    const unknown = await command(plan, 'retry', { nodes: ['odd.run', 'web/1.run', 'other.run'] });
    expect([said(unknown), unknown.body.errors]).toEqual([
      [404, 'node_not_found'],
      ['odd.run', 'other.run'].map((name) => ({ code: 'node_not_found', message: expect.stringContaining(name) })),
    ]);
    expect(said(await command(plan, 'retry', { nodes: [] }))).toEqual([400, 'bad_request']);
    expect((await command(plan, 'retry', { nodes: ['web/1.run'] })).body.state).toBe('running');
    await plans.finish(plan);
    expect(await stateOf(plan)).toBe('succeeded');
    const { attempts } = await plans.made('GET', `/plans/${plan}/${NODE}/attempts`);
    expect(attempts).toMatchObject([
      { number: 1, outcome: 'failed', message: 'exit status 1', node: 'web/1.run' },
      { number: 2, outcome: 'changed', state: 'ended', leases: null },
    ]);
  });

  test('abandon frees what is not committed, delete removes a plan whole', async () => {
    await plans.data('a');
    const first = await plans.process();
    expect((await command(first, 'abandon')).body.state).toBe('abandoned');
    const second = await plans.process();
    await command(second, 'run');
    await plans.finish(second);
    for (const plan of [first, second]) expect((await plans.call('DELETE', `/plans/${plan}`)).status).toBe(204);
    expect((await plans.made('GET', '/plans')).plans).toEqual([]);
    expect((await plans.made('GET', '/changes/history')).changes).toMatchObject([
      { log_action: 'a.run', plan: second },
    ]);
    const left = await plans.db.selectFrom('events').select('seq').where('stream_id', '=', second).execute();
    expect(left).toEqual([]);
  });

  test('needs an operator, and is in the audit', async () => {
    await plans.data('a');
    expect(said(await plans.as('reader').call('POST', '/changes/process', {}))[0]).toBe(403);
    const plan = (await plans.as('operator').made('POST', '/changes/process', {})).id;
    expect((await plans.as('reader').call('POST', `/plans/${plan}/run`)).status).toBe(403);
    expect((await plans.as('operator').call('POST', `/plans/${plan}/run`)).status).toBe(202);
    const { records } = (await plans.api.as(plans.api.tokens.admin, 'GET', '/api/v1/audit?actor=token/ops')).body;
    expect(records.map(({ action, kind, via }: Record<string, string>) => [action, kind, via])).toEqual([
      ['run', 'plan', 'POST /api/v1/propagation/plans/:plan/run'],
      ['process', 'plan', 'POST /api/v1/propagation/changes/process'],
    ]);
  });

  test('comes to pass once under one key', async () => {
    await plans.data('a');
    const headers = { 'idempotency-key': 'process-once' };
    const [one, other] = [
      await plans.call('POST', '/changes/process', {}, headers),
      await plans.call('POST', '/changes/process', {}, headers),
    ];
    expect([other.status, other.body.id]).toEqual([201, one.body.id]);
  });
});

describe('transitions', () => {
  test('are in pages, and live until the plan ends', async () => {
    const { plan, attempt } = await going();
    const { events, cursor } = await plans.made('GET', `/plans/${plan}/events`);
    expect([events, cursor]).toEqual([
      [expect.objectContaining({ seq: 1, type: 'node', node: 'web/1.run', from: 'pending', status: 'in_progress' })],
      1,
    ]);
    const live = await openEvents(`${base}/plans/${plan}/events`, { ...reader(), 'last-event-id': '1' });
    await plans.end(attempt, 'failed', { message: 'exit status 1' });
    await plans.finish(plan);
    await live.ended;
    const messages = live.frames;
    expect(messages.map(({ event }) => event)).toEqual(['node', 'end']);
    expect(messages[0]?.data).toMatchObject({
      ...{ seq: 2, node: 'web/1.run', status: 'error', outcome: 'failed', message: 'exit status 1', attempts: 1 },
    });
    expect(messages[1]?.data).toEqual({ id: plan, state: 'failed', deleted: false });
    expect((await plans.made('GET', `/plans/${plan}/events?tail=1`)).events).toMatchObject([{ seq: 2 }]);
  });

  test('of a plan that is removed come to an end', async () => {
    await plans.data('a');
    const plan = await plans.process();
    const live = await openEvents(`${base}/plans/${plan}/events`, reader());
    await plans.call('DELETE', `/plans/${plan}`);
    await live.ended;
    const messages = live.frames;
    expect(messages.at(-1)?.data).toEqual({ id: plan, state: null, deleted: true });
  });
});

describe('an attempt', () => {
  test('is shown with its run, its output and its events', async () => {
    const { plan, attempt } = await going();
    const shown = { id: attempt, plan, node: 'web/1.run', number: 1, state: 'open', leases: 'held' };
    expect(await plans.made('GET', `/attempts/${attempt}`)).toMatchObject({ ...shown, run: null });
    expect((await plans.made('GET', `/attempts/${attempt}/logs`)).logs).toEqual([]);
    const live = await openEvents(`${base}/attempts/${attempt}/logs`, reader());

    const run = streamOfAttempt(attempt);
    const owner = { kind: 'attempt', id: attempt };
    const place = { streamId: run, runId: run, layer: 0, attempt: 1 };
    await openRun(plans.db, { id: run, sessionId: null, owner, ...place, host: 'disk-1' }, new Date());
    await appendOutput(plans.db, place, 0, 'hello\n');
    await appendEvents(plans.db, place, [{ time: new Date(), type: 'task', host: 'h', line: 1, data: { task: 't' } }]);
    await plans.end(attempt, 'ok');
    await live.ended;
    const messages = live.frames;
    expect(messages.map(({ event }) => event)).toEqual(['log', 'end']);
    expect(messages[1]?.data).toMatchObject({ id: attempt, outcome: 'ok', deleted: false });

    expect(await plans.made('GET', `/attempts/${attempt}`)).toMatchObject({ run, outcome: 'ok', leases: null });
    const text = await plans.call('GET', `/attempts/${attempt}/logs`, undefined, { accept: 'text/plain' });
    expect(text.body).toBe('hello\n');
    const { events } = await plans.made('GET', `/attempts/${attempt}/events?type=task`);
    expect(events).toMatchObject([{ type: 'task', host: 'h', task: 't' }]);
  });

  test('whose run was not seen to be gone is released by an operator', async () => {
    const { plan, attempt } = await going();
    expect(said(await plans.call('POST', `/attempts/${attempt}/release`))).toEqual([409, 'plan_state']);
    await plans.end(attempt, 'error', { verified: false });
    await plans.finish(plan);
    expect((await plans.made('GET', `/attempts/${attempt}`)).leases).toBe('held, not verified');
    const kept = await plans.call('DELETE', `/plans/${plan}`);
    expect([said(kept), kept.body.detail]).toEqual([[409, 'plan_state'], expect.stringContaining(attempt)]);
    expect((await plans.as('reader').call('POST', `/attempts/${attempt}/release`)).status).toBe(403);
    const released = await plans.as('operator').call('POST', `/attempts/${attempt}/release`);
    expect([released.status, released.body.leases]).toEqual([202, null]);
    expect((await plans.call('DELETE', `/plans/${plan}`)).status).toBe(204);
  });

  test.each(['', '/events', '/logs'])('that is not there is said to be so: GET /attempts/{id}%s', async (path) => {
    for (const id of [NOWHERE, 'odd']) {
      expect(said(await plans.call('GET', `/attempts/${id}${path}`))).toEqual([404, 'attempt_not_found']);
    }
    expect(said(await plans.call('POST', `/attempts/${NOWHERE}/release`))).toEqual([404, 'attempt_not_found']);
  });
});
