import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { endRun, endRunHere, sweepRunEnds } from '../../control/runs/end-run.ts';
import { openRun } from '../../control/runs/open-run.ts';
import { createTell } from '../../control/temporal/tell.ts';
import { noteRunMachine, SESSION_MACHINES } from '../../store/runs/run-machines.ts';
import { markRunEnded, markRunStarted, noteRunError } from '../../store/runs/runs.ts';
import { appendEvents, appendOutput } from '../../store/runs/streams.ts';
import { addConfiguration, addOutput, addRun, endSession, sessionId } from '../sessions/session-fixtures.ts';
import { openEvents } from '../sessions/streams/event-reader.ts';
import { eventually } from '../support/eventually.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';
import { answeringClient, notingTell } from '../support/temporal/told.ts';

let api: TokenApi;
let base: string;
let isAway = false;
const ended: unknown[] = [];
const logged: object[] = [];
const client = answeringClient(async ({ options }) => {
  if (isAway) throw new Error('deadline exceeded');
  ended.push(...options.args);
});
const tell = createTell({ client, log: { warn: (fields) => void logged.push(fields) } });
beforeAll(async () => {
  api = await createTokenApi({
    clock: () => new Date(),
    tell,
  });
  await api.app.listen({ port: 0, host: '127.0.0.1' });
  base = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
  await addConfiguration(api.deps.db, 'web', 2);
});
afterAll(() => api.close());

const as = (role: 'reader' | 'operator' | 'admin') => ({ authorization: `Bearer ${api.tokens[role]}` });
const get = (path: string, headers: Record<string, string> = {}) =>
  api.call('GET', `/api/v1/runs/${path}`, undefined, { ...as('reader'), ...headers });
const end = (id: string, role: 'operator' | 'admin' = 'admin') =>
  api.call('POST', `/api/v1/runs/${id}/end`, undefined, as(role));

/** A run of an owner that is no session, with a task result and a piece of output. */
async function toyRun(
  id: string,
  host = 'disk-1',
  owner: { kind: string; id: string } | null = { kind: 'toy', id: '7' },
) {
  const { db } = api.deps;
  await openRun(db, { id, sessionId: null, owner, streamId: id, layer: 0, attempt: 1, host }, new Date());
  await markRunStarted(db, id, new Date());
  const place = { streamId: id, runId: id, layer: 0, attempt: 1 };
  const event = { time: new Date(), type: 'host_result', host: 'h', line: 1, data: { task: 't', result: 'ok' } };
  await appendEvents(db, place, [event]);
  await appendOutput(db, place, 0, 'PLAY one\n');
}

describe('a run of an owner that is no session', () => {
  test('is shown with its owner, machine and state', async () => {
    await toyRun('toy-7-1');
    expect(await get('toy-7-1')).toMatchObject({
      status: 200,
      body: {
        id: 'toy-7-1',
        owner: { kind: 'toy', id: '7', name: null },
        machine: 'disk-1',
        state: 'started',
        exit_status: null,
        ended_at: null,
        hosts: 0,
      },
    });
  });

  test('has its events and its output, as JSON and as text', async () => {
    expect((await get('toy-7-1/events')).body.events).toMatchObject([{ seq: 1, host: 'h', task: 't', result: 'ok' }]);
    expect((await get('toy-7-1/events?result=failed')).body.events).toEqual([]);
    expect((await get('toy-7-1/logs')).body.logs).toMatchObject([{ seq: 1, text: 'PLAY one\n' }]);
    expect((await get('toy-7-1/logs', { accept: 'text/plain' })).body).toBe('PLAY one\n');
  });

  test('is followed live until it is over, and the last message says how it ended', async () => {
    const { db } = api.deps;
    await toyRun('toy-7-2');
    const reader = await openEvents(`${base}/api/v1/runs/toy-7-2/logs`, as('reader'));
    await reader.until(() => reader.frames.length > 0);
    const place = { streamId: 'toy-7-2', runId: 'toy-7-2', layer: 0, attempt: 1 };
    await appendOutput(db, place, 9, 'fatal: [h]\n');
    await noteRunError(db, 'toy-7-2', 'no such role');
    await markRunEnded(db, 'toy-7-2', 'ended', 4, new Date());
    await reader.ended;
    expect(reader.frames.map(({ event, data }) => [event, data.text ?? data])).toEqual([
      ['log', 'PLAY one\n'],
      ['log', 'fatal: [h]\n'],
      ['end', { id: 'toy-7-2', state: 'ended', exit_status: 4, error: 'no such role', deleted: false }],
    ]);
  });
});

test('a run of a session shows its own part of the stream', async () => {
  const { db } = api.deps;
  await api.call('POST', '/v3/sessions', { configuration_name: 'web', name: 's1' }, as('admin'));
  const id = await sessionId(db, 's1');
  for (const layer of [0, 1]) {
    await addRun(db, id, { layer, exitCode: 0, results: [{ host: `h${layer}`, status: 'applied' }] });
    await addOutput(db, id, layer, 0, `PLAY ${layer}\n`);
  }
  expect((await get(`${id}-1-1`)).body).toMatchObject({
    owner: { kind: 'session', id, name: 's1' },
    layer: 1,
    hosts: 1,
  });
  expect((await get(`${id}-1-1/events`)).body.events).toMatchObject([{ host: 'h1' }]);
  expect((await get(`${id}-1-1/logs`, { accept: 'text/plain' })).body).toBe('PLAY 1\n');
});

test('a run of a session is followed live beside its session, each with its own last message', async () => {
  const { db } = api.deps;
  await api.call('POST', '/v3/sessions', { configuration_name: 'web', name: 's3' }, as('admin'));
  const id = await sessionId(db, 's3');
  const runId = `${id}-1-0`;
  await openRun(db, { id: runId, sessionId: id, streamId: id, layer: 0, attempt: 1, host: 'disk-1' }, new Date());
  await markRunStarted(db, runId, new Date());
  await addOutput(db, id, 0, 0, 'PLAY one\n');
  const readers = await Promise.all([
    openEvents(`${base}/api/v1/runs/${runId}/logs`, as('reader')),
    openEvents(`${base}/api/v1/sessions/s3/logs`, as('reader')),
  ]);
  for (const reader of readers) await reader.until(() => reader.frames.length > 0);
  await markRunEnded(db, runId, 'ended', 0, new Date());
  await readers[0].ended;
  expect(readers[0].frames.at(-1)).toMatchObject({ event: 'end', data: { id: runId, exit_status: 0 } });
  expect(readers[1].frames.map(({ event }) => event)).toEqual(['log']);
  await endSession(db, id, 'true');
  await readers[1].ended;
  expect(readers[1].frames.at(-1)).toMatchObject({ event: 'end', data: { name: 's3', succeeded: 'true' } });
});

describe('the end of a run', () => {
  test('is asked for on its machine and recorded', async () => {
    await toyRun('toy-8-1', 'disk-2');
    expect(await end('toy-8-1')).toMatchObject({ status: 202, body: { id: 'toy-8-1', state: 'started' } });
    expect(ended).toEqual([{ runId: 'toy-8-1', machine: 'disk-2' }]);
    const { body } = await api.call('GET', '/api/v1/audit?kind=run', undefined, as('admin'));
    expect(body.records).toMatchObject([{ action: 'end', kind: 'run', name: 'toy-8-1', actor: expect.any(String) }]);
  });

  test.each([
    ['no run', 'nothing', 404, 'run_not_found'],
    ['no id at all', '..%2f', 404, 'run_not_found'],
    ['a long text', 'x'.repeat(2_000), 404, 'run_not_found'],
  ])('of %s is refused', async (_, id, status, code) => {
    expect(await end(id)).toMatchObject({ status, body: { code } });
    expect(await get(id)).toMatchObject({ status, body: { code } });
  });

  test('is refused for a run that is over, or that ends with its owner, with the command that does it', async () => {
    const { db } = api.deps;
    await toyRun('toy-9-1');
    await markRunEnded(db, 'toy-9-1', 'ended', 0, new Date());
    expect(await end('toy-9-1')).toMatchObject({ status: 409, body: { code: 'run_over' } });
    await toyRun('reconcile-5-1', 'disk-1', { kind: 'reconcile', id: '5' });
    expect(await end('reconcile-5-1')).toMatchObject({
      status: 409,
      body: { code: 'run_ends_with_owner', detail: expect.stringContaining('./muster operator cancel 5') },
    });
    await api.call('POST', '/v3/sessions', { configuration_name: 'web', name: 's2' }, as('admin'));
    const id = await sessionId(db, 's2');
    await openRun(
      db,
      { id: `${id}-1-0`, sessionId: id, streamId: id, layer: 0, attempt: 1, host: 'kubernetes' },
      new Date(),
    );
    expect(await end(`${id}-1-0`)).toMatchObject({
      status: 409,
      body: { code: 'run_ends_with_owner', detail: expect.stringContaining('./muster session cancel s2') },
    });
  });

  test('is for administrators', async () => {
    await toyRun('toy-9-2');
    expect(await end('toy-9-2', 'operator')).toMatchObject({ status: 403 });
    expect(ended).not.toContainEqual(expect.objectContaining({ runId: 'toy-9-2' }));
  });

  describe('with Temporal away', () => {
    /** So many seconds after the last end that was asked for, however long ago that was. */
    const sweepAt = async (seconds: number) => {
      const told = notingTell();
      const { asked } = await api.deps.db
        .selectFrom('runs')
        .select(({ fn }) => fn.max('end_requested_at').as('asked'))
        .executeTakeFirstOrThrow();
      const from = asked === null ? Date.now() : asked.getTime();
      await sweepRunEnds({ ...api.deps, tell: told.tell, clock: () => new Date(from + seconds * 1_000) });
      return told.told;
    };
    const seen = (machine: string) =>
      noteRunMachine(api.deps.db, { machine, queue: `q-${machine}`, kind: SESSION_MACHINES }, new Date());

    beforeEach(async () => {
      isAway = true;
      logged.length = 0;
      await api.deps.db.updateTable('runs').set({ end_requested_at: null }).execute();
      await api.deps.db.deleteFrom('run_machines').execute();
    });
    afterEach(() => {
      isAway = false;
    });

    test('is taken and recorded; the log alone says that Temporal did not hear of it', async () => {
      await toyRun('toy-10-1', 'disk-5');
      const answer = await end('toy-10-1');
      expect(answer).toMatchObject({ status: 202, body: { id: 'toy-10-1', state: 'started' } });
      expect(JSON.stringify(answer.body)).not.toMatch(/deadline|Temporal/);
      expect(logged).toEqual([{ workflow: 'end-run/toy-10-1', err: 'deadline exceeded' }]);
      const { body } = await api.call('GET', '/api/v1/audit?kind=run', undefined, as('admin'));
      expect(body.records).toContainEqual(expect.objectContaining({ action: 'end', name: 'toy-10-1' }));
      await seen('disk-5');
      expect(await sweepAt(10)).toEqual([]);
      expect(await sweepAt(30)).toEqual(['end-run/toy-10-1']);
    });

    test('is told again until its machine has ended it, or it is over', async () => {
      for (const id of ['toy-11-1', 'toy-11-2']) {
        await toyRun(id, 'disk-6');
        expect(await end(id)).toMatchObject({ status: 202 });
      }
      await seen('disk-6');
      expect(await sweepAt(30)).toEqual(['end-run/toy-11-1', 'end-run/toy-11-2']);
      const endings: string[] = [];
      const runner = { end: async (id: string) => void endings.push(id) };
      expect(await endRunHere({ db: api.deps.db, runner, hostId: 'disk-6' }, 'toy-11-1')).toBe(true);
      expect(endings).toEqual(['toy-11-1']);
      expect(await sweepAt(30)).toEqual(['end-run/toy-11-2']);
      await markRunEnded(api.deps.db, 'toy-11-2', 'ended', 1, new Date());
      expect(await sweepAt(30)).toEqual([]);
    });

    test('is told again for a machine that is there', async () => {
      await toyRun('toy-12-1', 'disk-7');
      expect(await end('toy-12-1')).toMatchObject({ status: 202 });
      expect(await sweepAt(30)).toEqual([]);
      await seen('disk-7');
      expect(await sweepAt(30)).toEqual(['end-run/toy-12-1']);
      expect(await sweepAt(120)).toEqual([]);
    });
  });

  test('of a run that ends meanwhile is refused, and nothing is recorded', async () => {
    await toyRun('toy-13-1');
    const deps = { ...api.deps, tell, clock: api.deps.clock, actor: 'ann' };
    const racing = api.deps.db.transaction().execute(async (trx) => {
      // It holds the run until the request waits for it.
      await trx.selectFrom('runs').select('id').where('id', '=', 'toy-13-1').forUpdate().execute();
      const refused = endRun(deps, 'toy-13-1').catch((error: { code: string }) => error.code);
      await eventually('the request waits', async () => {
        const { rows } =
          await sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
            trx,
          );
        return rows.length > 0;
      });
      await markRunEnded(trx, 'toy-13-1', 'ended', 0, new Date());
      return { refused };
    });
    expect(await (await racing).refused).toBe('run_over');
    const audited = await api.call('GET', '/api/v1/audit?kind=run', undefined, as('admin'));
    expect(audited.body.records).not.toContainEqual(expect.objectContaining({ name: 'toy-13-1' }));
  });
});
