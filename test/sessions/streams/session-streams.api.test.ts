import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { insertHostResults } from '../../../store/runs/host-results.ts';
import { announceStream } from '../../../store/runs/streams.ts';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';
import {
  addConfiguration,
  addOutput,
  addResults,
  addRun,
  endSession,
  sessionId,
  setSession,
} from '../session-fixtures.ts';
import { type EventReader, openEvents } from './event-reader.ts';

let api: TestApi;
let base: string;
beforeAll(async () => {
  api = await createTestApi({ clock: () => new Date() });
  await api.app.listen({ port: 0, host: '127.0.0.1' });
  base = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}/api/v1/sessions`;
  await addConfiguration(api.deps.db, 'web', 2);
});
afterAll(() => api.close());

let count = 0;
async function make(): Promise<{ name: string; id: string }> {
  const name = `s-${++count}`;
  await api.call('POST', '/v3/sessions', { configuration_name: 'web', name });
  const id = await sessionId(api.deps.db, name);
  await setSession(api.deps.db, id, { stage: 'admitted', status: 'running', phase: 'layer', layer: 0 });
  return { name, id };
}
const results = (id: string, from: number, number: number, host = 'h') =>
  addResults(
    api.deps.db,
    { id, layer: 0, firstLine: from },
    Array.from({ length: number }, (_, index) => ({ host, task: `t${from + index}`, result: 'ok' })),
  );
const get = (path: string) => api.call('GET', `/api/v1/sessions/${path}`);
const tasks = (reader: EventReader) =>
  reader.frames.filter(({ event }) => event === 'event').map(({ data }) => data.task);

describe('pages', () => {
  let name: string;
  beforeAll(async () => {
    const session = await make();
    name = session.name;
    await addResults(api.deps.db, { id: session.id, layer: 0 }, [
      { host: 'a', task: 't1', result: 'ok' },
      { host: 'b', task: 't1', result: 'failed', message: 'no', seq: 'x', time: 'x', stdout: 'out' },
    ]);
    await addResults(api.deps.db, { id: session.id, layer: 1, attempt: 2 }, [
      { host: 'a', task: 't2', result: 'changed' },
    ]);
    await addOutput(api.deps.db, session.id, 0, 0, 'PLAY one\n');
    await addOutput(api.deps.db, session.id, 0, 9, 'ok: [a]\n');
    await addOutput(api.deps.db, session.id, 1, 0, 'PLAY two ü\n');
  });

  test('of events, from a number on', async () => {
    const first = await get(`${name}/events?limit=2`);
    expect(first.body.events).toEqual([
      {
        seq: 1,
        time: expect.any(String),
        type: 'host_result',
        layer: 0,
        attempt: 1,
        host: 'a',
        task: 't1',
        result: 'ok',
      },
      expect.objectContaining({ seq: 2, host: 'b', message: 'no', time: expect.stringMatching(/Z$/) }),
    ]);
    expect(first.body.next).toEqual({ limit: 2, after: 2 });
    expect((await get(`${name}/events?limit=2&after=2`)).body).toMatchObject({
      events: [{ seq: 3 }],
      cursor: 3,
      next: null,
    });
    expect((await get(`${name}/events?after=3`)).body).toEqual({ events: [], cursor: 3, next: null });
  });
  test.each([
    ['host=a', [1, 3]],
    ['layer=1', [3]],
    ['attempt=1', [1, 2]],
    ['result=failed', [2]],
    ['type=warning', []],
    ['tail=2', [2, 3]],
    ['tail=1&host=b', [2]],
    ['host=a&limit=1', [1]],
    ['after=9007199254740991', []],
  ])('of events with %s', async (query, seqs) => {
    const { body } = await get(`${name}/events?${query}`);
    expect(body.events.map(({ seq }: { seq: number }) => seq)).toEqual(seqs);
  });
  test.each([
    ['', ['PLAY one\n', 'ok: [a]\n', 'PLAY two ü\n']],
    ['layer=1', ['PLAY two ü\n']],
    ['tail=1', ['PLAY two ü\n']],
    ['limit=1', ['PLAY one\n']],
    ['after=2', ['PLAY two ü\n']],
  ])('of logs with %j', async (query, texts) => {
    const { body } = await get(`${name}/logs?${query}`);
    expect(body.logs.map(({ text }: { text: string }) => text)).toEqual(texts);
  });
  test('logs as text', async () => {
    const text = async (query: string) =>
      api.call('GET', `/api/v1/sessions/${name}/logs?${query}`, undefined, { accept: 'text/plain' });
    const whole = await text('');
    expect(whole.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(whole.body).toBe('PLAY one\nok: [a]\nPLAY two ü\n');
    expect((await text('layer=0')).body).toBe('PLAY one\nok: [a]\n');
    expect((await text('tail=1')).body).toBe('PLAY two ü\n');
    expect((await text('host=b')).body).toMatch(/layer 1 \[t1\] failed: no\n {2}stdout:\n {4}out\n$/);
    expect((await text('host=nobody')).body).toBe('');
  });
  test('the log of a host as JSON', async () => {
    const { body } = await get(`${name}/logs?host=a`);
    expect(body.logs.map(({ layer, text }: { layer: number; text: string }) => [layer, text.slice(25)])).toEqual([
      [0, 'layer 1 [t1] ok\n'],
      [1, 'layer 2 [t2] changed\n'],
    ]);
  });
  test.each([
    'events?limit=0',
    'events?limit=1001',
    'events?after=-1',
    'events?layer=x',
    'events?layer=99999999999',
    'events?tail=0',
    'logs?attempt=-1',
    'events?host=%00',
  ])('%s is a bad request', async (path) => expect((await get(`${name}/${path}`)).status).toBe(400));
  test('a HEAD that asks for a stream is answered at once', async () => {
    const answer = await api.call('HEAD', `/api/v1/sessions/${name}/events`, undefined, {
      accept: 'text/event-stream',
    });
    expect(answer.status).toBe(200);
  });
  test.each([
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'application/json'],
    ['*/*', 'application/json'],
    ['text/plain', 'text/plain; charset=utf-8'],
    ['text/*;q=0.5, application/json;q=0.1', 'text/plain; charset=utf-8'],
    ['application/pdf', 'application/json'],
    ['text/event-stream;q=0, */*', 'application/json'],
  ])('Accept: %s gives %s', async (accept, type) => {
    const answer = await api.call('GET', `/api/v1/sessions/${name}/logs`, undefined, { accept });
    expect(answer.headers['content-type']).toBe(type);
  });
});

test('of large pieces of output the newest are answered, as many as fit in a page', async () => {
  const { name, id } = await make();
  const size = 256 * 1024;
  for (let piece = 0; piece < 40; piece += 1) {
    await addOutput(api.deps.db, id, 0, piece * size, `${piece}`.padEnd(size, 'x'));
  }
  const { body } = await get(`${name}/logs?tail=40`);
  const seqs = body.logs.map(({ seq }: { seq: number }) => seq);
  expect(seqs.length).toBeLessThan(40);
  expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => 41 - seqs.length + index));
  expect(body).toMatchObject({ cursor: 40, next: null });
});

describe('live', () => {
  test('what is there, then what comes, then the end', async () => {
    const { name, id } = await make();
    await results(id, 1, 2);
    const reader = await openEvents(`${base}/${name}/events`);
    await reader.until(() => reader.frames.length === 2);
    await results(id, 3, 1);
    await reader.until(() => reader.frames.length === 3);
    await results(id, 4, 300);
    await endSession(api.deps.db, id, 'false');
    await reader.ended;
    expect(tasks(reader)).toEqual(Array.from({ length: 303 }, (_, index) => `t${index + 1}`));
    expect(reader.frames.slice(0, -1).map((frame) => frame.id)).toEqual(
      reader.frames.slice(0, -1).map((frame) => String(frame.data.seq)),
    );
    expect(reader.frames.at(-1)).toEqual({
      id: null,
      event: 'end',
      data: { name, id, status: 'complete', succeeded: 'false', message: 'ended false', reason: null, deleted: false },
    });
  });

  test('goes on behind Last-Event-ID, with nothing twice or missing', async () => {
    const { name, id } = await make();
    await results(id, 1, 10);
    const first = await openEvents(`${base}/${name}/events`);
    await first.until(() => first.frames.length >= 4);
    first.close();
    await first.ended;
    const last = first.frames[3]?.id ?? '';
    await results(id, 11, 5);
    const second = await openEvents(`${base}/${name}/events?after=1`, { 'last-event-id': last });
    await endSession(api.deps.db, id, 'true');
    await second.ended;
    expect(tasks(second)).toEqual(Array.from({ length: 11 }, (_, index) => `t${index + 5}`));
  });

  test.each([
    ['after=8', 2],
    ['tail=3', 3],
    ['', 10],
  ])('begins where ?%s says', async (query, number) => {
    const { name, id } = await make();
    await results(id, 1, 10);
    await endSession(api.deps.db, id, 'true');
    const reader = await openEvents(`${base}/${name}/events?${query}`, { 'last-event-id': 'rubbish' });
    await reader.ended;
    expect(tasks(reader)).toHaveLength(number);
  });

  test('filters leave out, and the stream still goes on', async () => {
    const { name, id } = await make();
    const reader = await openEvents(`${base}/${name}/events?host=b`);
    await results(id, 1, 250, 'a');
    await results(id, 251, 1, 'b');
    await reader.until(() => reader.frames.length === 1);
    await results(id, 252, 1, 'a');
    await results(id, 253, 1, 'b');
    await endSession(api.deps.db, id, 'true');
    await reader.ended;
    expect(tasks(reader)).toEqual(['t251', 't253']);
  });

  test('logs, and the log of a host', async () => {
    const { name, id } = await make();
    const [log, host] = [await openEvents(`${base}/${name}/logs`), await openEvents(`${base}/${name}/logs?host=b`)];
    await addOutput(api.deps.db, id, 0, 0, 'one\n');
    await results(id, 1, 1, 'a');
    await results(id, 2, 1, 'b');
    await addOutput(api.deps.db, id, 0, 4, 'two\n');
    await endSession(api.deps.db, id, 'true');
    await Promise.all([log.ended, host.ended]);
    expect(log.frames.map(({ id: at, event, data }) => [at, event, data.text])).toEqual([
      ['1', 'log', 'one\n'],
      ['2', 'log', 'two\n'],
      [null, 'end', undefined],
    ]);
    expect(host.frames.map(({ id: at, data }) => [at, data.text?.slice(25)])).toEqual([
      ['2', 'layer 1 [t2] ok\n'],
      [null, undefined],
    ]);
  });

  test('progress whenever it changes', async () => {
    const { name, id } = await make();
    const reader = await openEvents(`${base}/${name}/progress`);
    await reader.until(() => reader.frames.length === 1);
    await announceStream(api.deps.db, id);
    await results(id, 1, 3);
    await reader.until(() => reader.frames.some(({ data }) => data.counts?.ok === 3));
    await endSession(api.deps.db, id, 'true');
    await reader.ended;
    const told = reader.frames.slice(0, -1).map(({ data: { elapsed, ...rest } }) => JSON.stringify(rest));
    expect(new Set(told).size).toBe(told.length);
    expect(reader.frames.at(-2)?.data).toMatchObject({ phase: 'done', status: 'complete', counts: { ok: 3 } });
    expect(reader.frames.at(-1)?.event).toBe('end');
  });

  test('hosts as they change, and again when their results are stored', async () => {
    const { name, id } = await make();
    const reader = await openEvents(`${base}/${name}/hosts`);
    const lastOf = (host: string) => reader.frames.filter(({ data }) => data.host === host).at(-1)?.data.result;
    await results(id, 1, 1, 'a');
    await results(id, 2, 1, 'b');
    await reader.until(() => lastOf('a') === 'running' && lastOf('b') === 'running');
    const cursor = reader.frames.findLast((frame) => frame.id !== null)?.id ?? '';
    await addRun(api.deps.db, id, { layer: 0, exitCode: 2, results: [] });
    const zero = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
    await insertHostResults(api.deps.db, { runId: `${id}-1-0`, sessionId: id, layer: 0, attempt: 1 }, [
      { host: 'a', status: 'applied', ...zero },
      { host: 'b', status: 'failed', ...zero },
    ]);
    await announceStream(api.deps.db, id);
    await reader.until(() => lastOf('a') === 'applied' && lastOf('b') === 'failed');
    const again = await openEvents(`${base}/${name}/hosts`, { 'last-event-id': cursor });
    await endSession(api.deps.db, id, 'false');
    await Promise.all([reader.ended, again.ended]);
    const hosts = again.frames.filter(({ event }) => event === 'host').map(({ data }) => [data.host, data.result]);
    // A host may be told twice, never in a state that it has left.
    expect(new Set(hosts.map(String))).toEqual(new Set(['a,applied', 'b,failed']));
  });

  test('a session that is deleted ends its streams', async () => {
    const { name } = await make();
    const reader = await openEvents(`${base}/${name}/events`);
    await api.call('DELETE', `/v3/sessions/${name}`);
    await reader.ended;
    expect(reader.frames.at(-1)).toMatchObject({ event: 'end', data: { name, deleted: true } });
  });

  test('a connection to the database that is cut loses nothing', async () => {
    const { name, id } = await make();
    const reader = await openEvents(`${base}/${name}/events`);
    await results(id, 1, 1);
    await reader.until(() => reader.frames.length === 1);
    const { rows } = await sql<{ gone: boolean }>`
      select pg_terminate_backend(pid) as gone from pg_stat_activity
      where application_name = 'muster-streams' and datname = current_database()
    `.execute(api.deps.db);
    expect(rows).toEqual([{ gone: true }]);
    await results(id, 2, 1);
    await endSession(api.deps.db, id, 'true');
    await reader.ended;
    expect(tasks(reader)).toEqual(['t1', 't2']);
  });

  test('whatever the writers, cuts and readers do, every reader sees every event once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 260 }), { minLength: 1, maxLength: 6 }),
        fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 3 }),
        async (batches, cuts) => {
          const { name, id } = await make();
          const total = batches.reduce((sum, batch) => sum + batch, 0);
          const follow = async (stops: number[]) => {
            const seen: number[] = [];
            for (const stop of [...stops, Number.POSITIVE_INFINITY]) {
              const headers: Record<string, string> = seen.length > 0 ? { 'last-event-id': String(seen.at(-1)) } : {};
              const reader = await openEvents(`${base}/${name}/events`, headers);
              const over = reader.ended.then(() => true);
              await Promise.race([over, reader.until(() => reader.frames.length >= stop)]);
              reader.close();
              await reader.ended;
              seen.push(...reader.frames.filter(({ event }) => event === 'event').map((frame) => Number(frame.id)));
              if (reader.frames.at(-1)?.event === 'end') break;
            }
            return seen;
          };
          const write = async () => {
            let line = 1;
            const writes = batches.map((batch) => {
              const from = line;
              line += batch;
              return results(id, from, batch);
            });
            await Promise.all(writes);
            await endSession(api.deps.db, id, 'true');
          };
          const [, ...seen] = await Promise.all([write(), follow([]), follow(cuts), follow([1, 2])]);
          const all = Array.from({ length: total }, (_, index) => index + 1);
          for (const numbers of seen) expect(numbers).toEqual(all);
        },
      ),
      { numRuns: 12 },
    );
  });
});

test('closing the server ends its streams', async () => {
  const other = await createTestApi({ clock: () => new Date() });
  await other.app.listen({ port: 0, host: '127.0.0.1' });
  await addConfiguration(other.deps.db, 'web');
  await other.call('POST', '/v3/sessions', { configuration_name: 'web', name: 's' });
  const port = (other.app.server.address() as AddressInfo).port;
  const reader = await openEvents(`http://127.0.0.1:${port}/api/v1/sessions/s/events`);
  await other.close();
  await reader.ended;
  expect(reader.frames).toEqual([]);
});
