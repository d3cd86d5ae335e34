import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { closeRun, shipBatch } from '../../control/runs/follow-run.ts';
import { openRun } from '../../control/runs/open-run.ts';
import { runOutcome } from '../../control/sessions/run-outcome.ts';
import type { RunBatch } from '../../domain/runs/runner.ts';
import { openDatabase } from '../../store/connection/database.ts';
import { findRun, type RunRow } from '../../store/runs/runs.ts';
import { appendEvents, appendOutput, createStream, deleteStream, type NewEvent } from '../../store/runs/streams.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { makeSession } from '../support/temporal/engine-sessions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const event = (given: Partial<NewEvent> = {}): NewEvent => ({
  time: new Date('2026-11-21T10:00:00.123Z'),
  type: 'warning',
  host: null,
  line: null,
  data: { message: 'x' },
  ...given,
});
const place = (streamId: string, runId: string | null = null) => ({ streamId, runId, layer: null, attempt: null });

async function newStream(): Promise<string> {
  const id = randomUUID();
  await createStream(database.db, id);
  return id;
}

const eventsOf = (streamId: string) =>
  database.db.selectFrom('events').selectAll().where('stream_id', '=', streamId).orderBy('seq').execute();
const outputOf = (streamId: string) =>
  database.db.selectFrom('output').selectAll().where('stream_id', '=', streamId).orderBy('seq').execute();

async function newRun(): Promise<RunRow> {
  const { id } = await makeSession(database.db);
  return openRun(
    database.db,
    { id: `${id}-1-0`, sessionId: id, streamId: id, layer: 0, attempt: 1, host: 'h' },
    new Date(),
  );
}

const START = { lines: 0, eventBytes: 0, outputBytes: 0 };
const batch = (given: Partial<RunBatch> = {}): RunBatch => ({
  events: [{ line: 1, event: { time: '2026-11-21T10:00:00.123Z', type: 'host_result', host: 'web1', task: 't' } }],
  output: { start: 0, text: 'hello\n' },
  cursor: { lines: 1, eventBytes: 80, outputBytes: 6 },
  ...given,
});

describe('a stream', () => {
  test('numbers events from 1, in the order in which they are given', async () => {
    const stream = await newStream();
    await appendEvents(database.db, place(stream), [event({ type: 'a' }), event({ type: 'b' })]);
    await appendEvents(database.db, place(stream), []);
    await appendEvents(database.db, place(stream), [event({ type: 'c', host: 'web1', data: { n: [1, null] } })]);
    const stored = await eventsOf(stream);
    expect(stored.map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]);
    expect(stored[2]).toMatchObject({ host: 'web1', data: { n: [1, null] }, time: event().time });
  });

  test('takes nothing when it is gone, and is made anew empty', async () => {
    const stream = await newStream();
    await appendEvents(database.db, place(stream), [event()]);
    await appendOutput(database.db, { streamId: stream, runId: stream, layer: 0, attempt: 1 }, 0, 'x');
    await deleteStream(database.db, stream);
    await appendEvents(database.db, place(stream), [event()]);
    await appendOutput(database.db, { streamId: stream, runId: stream, layer: 0, attempt: 1 }, 0, 'x');
    expect([await eventsOf(stream), await outputOf(stream)]).toEqual([[], []]);
  });

  test('is made once', async () => {
    const stream = await newStream();
    await appendEvents(database.db, place(stream), [event()]);
    await createStream(database.db, stream);
    await appendEvents(database.db, place(stream), [event()]);
    expect((await eventsOf(stream)).map(({ seq }) => seq)).toEqual([1, 2]);
  });

  test('a reader that goes on behind the last number it saw misses nothing of 8 writers at once', async () => {
    const stream = await newStream();
    const writers = Array.from({ length: 8 }, () => openDatabase({ url: database.url, poolSize: 1 }));
    const PER_WRITER = 25;
    let writing = true;
    const read = async () => {
      const seen: number[] = [];
      for (let more = true; more; ) {
        more = writing;
        const rows = await database.db
          .selectFrom('events')
          .select('seq')
          .where('stream_id', '=', stream)
          .where('seq', '>', seen.at(-1) ?? 0)
          .orderBy('seq')
          .execute();
        seen.push(...rows.map(({ seq }) => seq));
      }
      return seen;
    };
    const write = async () => {
      await Promise.all(
        writers.map(async (db, writer) => {
          for (let index = 0; index < PER_WRITER; index += 1) {
            const two = [event({ data: { writer, index } }), event({ data: { writer, index } })];
            // Some hold their transaction open for a while: their numbers must not be overtaken.
            await db.transaction().execute(async (trx) => {
              await appendEvents(trx, place(stream), two);
              if (index % 5 === writer % 5) await trx.selectFrom('streams').selectAll().execute();
            });
          }
        }),
      );
      writing = false;
    };
    try {
      const [first, second] = await Promise.all([read(), read(), write()]);
      const all = Array.from({ length: writers.length * PER_WRITER * 2 }, (_, index) => index + 1);
      expect(first).toEqual(all);
      expect(second).toEqual(all);
    } finally {
      await Promise.all(writers.map((db) => db.destroy()));
    }
  });

  test('keeps a line and a piece of output of a run once, also when two ship it at the same time', async () => {
    const stream = await newStream();
    const run = `${stream}-1-0`;
    const lines = [1, 2, 3].map((line) => event({ line, data: { line } }));
    const again = [2, 3, 4].map((line) => event({ line, data: { line, again: true } }));
    await appendEvents(database.db, place(stream, run), lines);
    await Promise.all([again, again, lines].map((some) => appendEvents(database.db, place(stream, run), some)));
    const stored = await eventsOf(stream);
    expect(stored.map(({ line }) => line)).toEqual([1, 2, 3, 4]);
    expect(stored.slice(0, 3).map(({ data }) => data)).toEqual([{ line: 1 }, { line: 2 }, { line: 3 }]);
    const of = { streamId: stream, runId: run, layer: 0, attempt: 1 };
    await appendOutput(database.db, of, 0, 'first');
    await Promise.all(['again', 'once more'].map((text) => appendOutput(database.db, of, 0, text)));
    expect((await outputOf(stream)).map(({ start, text }) => [start, text])).toEqual([[0, 'first']]);
  });
});

describe('what a run writes', () => {
  test('is stored with the place it has reached, all or nothing', async () => {
    const run = await newRun();
    await shipBatch(database.db, run, START, batch(), new Date());
    expect(await eventsOf(run.streamId)).toMatchObject([
      { seq: 1, run_id: run.id, line: 1, layer: 0, attempt: 1, type: 'host_result', host: 'web1', data: { task: 't' } },
    ]);
    expect(await outputOf(run.streamId)).toMatchObject([{ run_id: run.id, start: 0, text: 'hello\n' }]);
    expect((await findRun(database.db, run.id))?.cursor).toEqual(batch().cursor);
    // A watcher that was overtaken stores nothing, and hears of it.
    await expect(shipBatch(database.db, run, START, batch(), new Date())).rejects.toThrow('another watcher');
    expect(await eventsOf(run.streamId)).toHaveLength(1);
  });

  test('is stored once by several watchers of the same run', async () => {
    const run = await newRun();
    const watchers = await Promise.allSettled(
      Array.from({ length: 5 }, () => shipBatch(database.db, run, START, batch(), new Date())),
    );
    expect(watchers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await eventsOf(run.streamId)).toHaveLength(1);
    expect(await outputOf(run.streamId)).toHaveLength(1);
  });

  test('is stored whatever times and names of hosts it holds', async () => {
    const run = await newRun();
    const times = ['+275760-09-13T00:00:00.000Z', 'never', '-271821-04-20T00:00:00.000Z'];
    const events = times.map((time, index) => ({
      line: index + 1,
      event: { time, type: 'host_result', host: '\u0000'.repeat(9_000) },
    }));
    await shipBatch(database.db, run, START, batch({ events, output: null }), new Date());
    const stored = await eventsOf(run.streamId);
    expect(stored).toHaveLength(3);
    for (const { time, host } of stored) {
      expect(Math.abs(Date.now() - time.getTime())).toBeLessThan(60_000);
      expect(host).toBe('\ufffd'.repeat(500));
    }
  });

  test('ends once, with its results', async () => {
    const run = await newRun();
    const counts = { ok: 2, changed: 1, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
    const hosts = {
      web1: { ...counts, status: 'applied' as const },
      web2: { ...counts, failures: 1, status: 'failed' as const },
      [`x${'\ud83d'}`]: { ...counts, status: 'incomplete' as const },
    };
    const exit = { code: 2, signal: null, ended_at: '2026-11-21T10:00:00.000Z' };
    await closeRun(
      database.db,
      run,
      { exit, results: { hosts, broken_off: true }, warnings: ['odd\u0000'] },
      new Date(),
    );
    await closeRun(database.db, run, { exit: null, results: null, warnings: ['never'] }, new Date());
    expect(await runOutcome(database.db, run.id)).toMatchObject({ exitCode: 2, hosts: 3, failedHosts: 1 });
    expect(await findRun(database.db, run.id)).toMatchObject({ state: 'ended', exitCode: 2 });
    expect((await eventsOf(run.streamId)).map(({ data }) => data)).toEqual([{ message: 'odd\ufffd' }]);
  });

  test('is lost without an exit status', async () => {
    const run = await newRun();
    await closeRun(database.db, run, { exit: null, results: null, warnings: [] }, new Date());
    expect(await runOutcome(database.db, run.id)).toMatchObject({ exitCode: null, hosts: 0, failedHosts: 0 });
    expect(await findRun(database.db, run.id)).toMatchObject({ state: 'lost' });
  });
});
