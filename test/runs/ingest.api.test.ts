import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import pino from 'pino';
import { createIngestApp } from '../../api/ingest/ingest-app.ts';
import type { ApiServer } from '../../api/server/api-server.ts';
import { newToken } from '../../control/access/token-secret.ts';
import { recordLayer } from '../../control/components/record-layer.ts';
import { closeRun } from '../../control/runs/follow-run.ts';
import { issueRunToken } from '../../control/runs/issue-run-token.ts';
import { deleteRuns, ensureRun, findRun } from '../../store/runs/runs.ts';
import { createStream } from '../../store/runs/streams.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { createTestApi } from '../support/stack/test-api.ts';
import { makeSession } from '../support/temporal/engine-sessions.ts';

const SPOOL = 600;
const LOG_MAX = 20_000;

interface Run {
  id: string;
  sessionId: string;
  token: string;
}

let database: TestDatabase;
let app: ApiServer;
/** The clock of the server: it goes on from the instant that a test sets. */
const now = {
  ahead: 0,
  get value(): Date {
    return new Date(Date.now() + this.ahead);
  },
  set value(at: Date) {
    this.ahead = at.getTime() - Date.now();
  },
};
const logged: string[] = [];

const makeApp = () =>
  createIngestApp({
    db: database.db,
    log: pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) }),
    clock: () => now.value,
    spoolSeconds: SPOOL,
    logMax: LOG_MAX,
    tls: undefined,
  });

beforeAll(async () => {
  database = await createTestDatabase();
  app = makeApp();
});
afterAll(async () => {
  await app?.close();
  await database?.close();
});

/** A session's run on record, with a token. */
async function makeRun(): Promise<Run> {
  const session = await makeSession(database.db);
  const id = `${session.id}-1-0`;
  await ensureRun(
    database.db,
    { id, sessionId: session.id, streamId: session.id, layer: 0, attempt: 1, host: 'pod' },
    new Date(),
  );
  return { id, sessionId: session.id, token: await issueRunToken(database.db, id, new Date()) };
}

async function call(method: string, url: string, token: string | null, payload?: string | Buffer | object) {
  const plain = payload === undefined || typeof payload === 'string' || Buffer.isBuffer(payload);
  const response = await app.inject({
    method: method as 'GET',
    url,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(payload === undefined ? {} : { 'content-type': plain ? 'application/octet-stream' : 'application/json' }),
    },
    ...(payload === undefined ? {} : { payload: plain ? payload : JSON.stringify(payload) }),
  });
  return {
    status: response.statusCode,
    body: response.body === '' ? null : response.json(),
    headers: response.headers,
  };
}

const event = (index: number, more: object = {}) =>
  JSON.stringify({
    time: '2026-11-21T10:00:00.000Z',
    type: 'host_result',
    host: `n${index % 7}`,
    task: 't',
    result: 'ok',
    index,
    ...more,
  });
const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${event(from + index)}\n`).join('');

const storedLines = async (run: Run) =>
  (
    await database.db
      .selectFrom('events')
      .select(['line', 'seq', 'data', 'host', 'type', 'layer', 'attempt', 'stream_id'])
      .where('run_id', '=', run.id)
      .orderBy('seq')
      .execute()
  ).map((row) => row);
const storedOutput = async (run: Run) =>
  (await database.db.selectFrom('output').select('text').where('run_id', '=', run.id).orderBy('start').execute())
    .map(({ text }) => text)
    .join('');
const HOST = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };

describe('events', () => {
  test('a part is stored once, however often it is sent, and the answer says where to go on', async () => {
    const run = await makeRun();
    const url = `/runs/${run.id}/events?first_line=1`;
    expect(await call('GET', `/runs/${run.id}`, run.token)).toMatchObject({
      status: 200,
      body: { state: 'created', lines: 0, output_bytes: 0 },
    });
    expect((await call('POST', url, run.token, lines(1, 5))).body).toEqual({
      state: 'started',
      lines: 5,
      output_bytes: 0,
    });
    expect((await call('POST', url, run.token, lines(1, 5))).body).toMatchObject({ lines: 5 });
    expect((await call('POST', `/runs/${run.id}/events?first_line=3`, run.token, lines(3, 9))).body).toMatchObject({
      lines: 9,
    });
    const stored = await storedLines(run);
    expect(stored.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(stored.map(({ data }) => data.index)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(stored[8]).toMatchObject({
      host: 'n2',
      type: 'host_result',
      layer: 0,
      attempt: 1,
      stream_id: run.sessionId,
    });
    expect((await call('GET', `/runs/${run.id}`, run.token)).body).toEqual({
      state: 'started',
      lines: 9,
      output_bytes: 0,
    });
  });

  test('a part that is too large is refused: by itself, and before it is read', async () => {
    const run = await makeRun();
    const large = await call('POST', `/runs/${run.id}/events?first_line=1`, run.token, Buffer.alloc(5 * 2 ** 20, '\n'));
    expect(large).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    const address = await app.listen({ host: '127.0.0.1', port: 0 });
    const huge = await fetch(`${address}/runs/${run.id}/results`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${run.token}`, 'content-type': 'application/json' },
      body: Buffer.alloc(33 * 2 ** 20, ' '),
    });
    expect(huge.status).toBe(413);
    expect(await storedLines(run)).toEqual([]);
  });

  test('a gap is refused and stores nothing', async () => {
    const run = await makeRun();
    const answer = await call('POST', `/runs/${run.id}/events?first_line=3`, run.token, lines(3, 4));
    expect(answer).toMatchObject({ status: 409, body: { code: 'run_position' } });
    expect(answer.body.detail).toContain('next line is 1');
    expect(await storedLines(run)).toEqual([]);
  });

  test('a line that is no event keeps its number; a line that is not finished waits', async () => {
    const run = await makeRun();
    const odd = `${event(1)}\n{"broken\n\n${event(4, { message: 'a\u0000b' })}\n{"time":"`;
    expect((await call('POST', `/runs/${run.id}/events?first_line=1`, run.token, odd)).body).toMatchObject({
      lines: 4,
    });
    const stored = await storedLines(run);
    expect(stored.map(({ type }) => type)).toEqual(['host_result', 'warning', 'warning', 'host_result']);
    expect(stored[3]?.data.message).toBe('a\ufffdb');
  });

  test('any order of parts, repeats and parallel senders leaves every line once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 }), async (sizes) => {
        const run = await makeRun();
        const total = sizes.reduce((sum, size) => sum + size, 0);
        const sender = async () => {
          for (let next = 1, part = 0; next <= total; part += 1) {
            const size = sizes[part % sizes.length] ?? 1;
            const first = Math.max(1, next - 2);
            const text = lines(first, Math.min(total, next + size - 1));
            const { status, body } = await call('POST', `/runs/${run.id}/events?first_line=${first}`, run.token, text);
            expect(status).toBe(200);
            next = body.lines + 1;
          }
        };
        await Promise.all([sender(), sender(), sender()]);
        const stored = await storedLines(run);
        expect(stored.map(({ line }) => line)).toEqual(Array.from({ length: total }, (_, index) => index + 1));
      }),
      { numRuns: 15 },
    );
  });
});

describe('output', () => {
  test('parts are stored at whole characters and once', async () => {
    const run = await makeRun();
    const bytes = Buffer.from('eins\nzwei \u00e4\u00f6\u00fc \u20ac \ud83d\ude00\nend');
    const send = (offset: number, end: number, final = false) =>
      call(
        'POST',
        `/runs/${run.id}/output?offset=${offset}${final ? '&final=true' : ''}`,
        run.token,
        bytes.subarray(offset, end),
      );
    expect((await send(0, 7)).body).toMatchObject({ output_bytes: 5 });
    expect((await send(0, 5)).body).toMatchObject({ output_bytes: 5 });
    expect(await send(9, 20)).toMatchObject({ status: 409, body: { code: 'run_position' } });
    // No line end is new, and the last character is not whole.
    expect((await send(0, 11)).body).toMatchObject({ output_bytes: 10 });
    const middle = await send(10, bytes.length);
    expect(middle.body.output_bytes).toBe(bytes.indexOf('end'));
    expect((await send(middle.body.output_bytes, bytes.length, true)).body.output_bytes).toBe(bytes.length);
    expect(await storedOutput(run)).toBe(bytes.toString());
  });

  test('no more than the largest log is taken', async () => {
    const run = await makeRun();
    const full = await call('POST', `/runs/${run.id}/output?offset=0`, run.token, Buffer.alloc(LOG_MAX + 2_000, 'a\n'));
    expect(full).toMatchObject({ status: 413, body: { code: 'run_log_full' } });
    expect(
      (await call('POST', `/runs/${run.id}/output?offset=0`, run.token, Buffer.alloc(LOG_MAX, 'a\n'))).status,
    ).toBe(200);
  });
});

describe('results and exit', () => {
  test('the layer of a remote run is recorded like that of a local one', async () => {
    const run = await makeRun();
    const hosts = { n1: { ...HOST, status: 'applied' }, n2: { ...HOST, failures: 1, status: 'failed' } };
    const component = (id: string) => ({
      id,
      desired_config: '',
      error_count: 4,
      enabled: true,
      tags: '{}',
      state: '[]',
      updated_at: new Date(),
      actor: null,
    });
    await database.db
      .insertInto('components')
      .values([component('n1'), component('n2')])
      .execute();
    const put = () => call('PUT', `/runs/${run.id}/results`, run.token, { hosts, broken_off: false });
    expect((await put()).status).toBe(200);
    expect((await put()).status).toBe(200);
    const exit = { code: 2, signal: null, ended_at: '2026-11-21T10:00:00.000Z' };
    expect((await call('PUT', `/runs/${run.id}/exit`, run.token, exit)).body).toMatchObject({ state: 'ended' });
    expect((await call('PUT', `/runs/${run.id}/exit`, run.token, exit)).status).toBe(200);
    expect(await call('PUT', `/runs/${run.id}/exit`, run.token, { ...exit, code: 0 })).toMatchObject({
      status: 409,
      body: { code: 'run_ended' },
    });
    expect(await put()).toMatchObject({ status: 409, body: { code: 'run_ended' } });
    expect(await findRun(database.db, run.id)).toMatchObject({ state: 'ended', exitCode: 2 });
    await recordLayer(
      database.db,
      {
        runId: run.id,
        streamId: run.sessionId,
        layer: 0,
        attempt: 1,
        sessionName: 's',
        cloneUrl: 'u',
        playbook: 'p',
        commit: 'c',
      },
      new Date(),
    );
    const rows = await database.db
      .selectFrom('components')
      .select(['id', 'error_count', 'state'])
      .orderBy('id')
      .execute();
    expect(rows.map(({ error_count, state }) => [error_count, state[0]?.status])).toEqual([
      [0, 'applied'],
      [5, 'failed'],
    ]);
  });

  test('what was still on its way at the end is taken until the spool time is over', async () => {
    const run = await makeRun();
    await call('PUT', `/runs/${run.id}/exit`, run.token, { code: 0, signal: null, ended_at: '2026-11-21T10:00:00Z' });
    const late = (line: number) =>
      call('POST', `/runs/${run.id}/events?first_line=${line}`, run.token, lines(line, line));
    now.value = new Date(Date.now() + (SPOOL / 2) * 1000);
    expect(await late(1)).toMatchObject({ status: 200, body: { state: 'ended', lines: 1 } });
    now.value = new Date(Date.now() + (SPOOL + 5) * 1000);
    expect(await late(2)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    now.value = new Date();
    expect(await storedLines(run)).toHaveLength(1);
  });

  test('a lost run is not ended again', async () => {
    const run = await makeRun();
    const row = await findRun(database.db, run.id);
    if (row === null) throw new Error('no run');
    await closeRun(database.db, row, { exit: null, results: null, warnings: [] }, new Date());
    const exit = { code: 0, signal: null, ended_at: '2026-11-21T10:00:00Z' };
    expect(await call('PUT', `/runs/${run.id}/exit`, run.token, exit)).toMatchObject({ status: 409 });
  });

  test.each([
    ['results', { hosts: { n1: { ok: -1 } }, broken_off: false }],
    ['results', []],
    ['exit', { code: 700, signal: null, ended_at: 'x' }],
    ['exit', {}],
  ])('a wrong %s is 400', async (what, body) => {
    const run = await makeRun();
    expect((await call('PUT', `/runs/${run.id}/${what}`, run.token, body)).status).toBe(400);
  });

  test.each([
    'events',
    'events?first_line=0',
    'events?first_line=x',
    'output',
    'output?offset=-1',
    'output?offset=0&final=2',
  ])('a wrong query is 400: %s', async (what) => {
    const run = await makeRun();
    expect((await call('POST', `/runs/${run.id}/${what}`, run.token, 'a\n')).status).toBe(400);
  });
});

describe('who may write what', () => {
  const paths = (id: string): [string, string][] => [
    ['GET', `/runs/${id}`],
    ['POST', `/runs/${id}/events?first_line=1`],
    ['POST', `/runs/${id}/output?offset=0`],
    ['PUT', `/runs/${id}/results`],
    ['PUT', `/runs/${id}/exit`],
  ];

  test('the token of another run is the same refusal whether the run exists or not', async () => {
    const [mine, other] = [await makeRun(), await makeRun()];
    for (const id of [other.id, `${randomUUID()}-1-0`, 'x', `${mine.id}x`, mine.id.slice(0, -1)]) {
      for (const [method, path] of paths(id)) {
        const answer = await call(method, path, mine.token, method === 'GET' ? undefined : {});
        expect([path, answer.status, answer.body]).toEqual([
          path,
          403,
          {
            type: 'about:blank',
            title: 'Forbidden',
            status: 403,
            detail: 'The token is of another run',
            code: 'forbidden',
          },
        ]);
      }
    }
    expect(await storedLines(other)).toEqual([]);
  });

  test('no token, a token of the API, one that was replaced, one whose run is gone: 401', async () => {
    const run = await makeRun();
    const replaced = run.token;
    const token = await issueRunToken(database.db, run.id, new Date());
    const gone = await makeRun();
    await deleteRuns(database.db, { kind: 'session', id: gone.sessionId });
    const cases: [string, string | null][] = [
      [run.id, null],
      [run.id, replaced],
      [run.id, newToken('run')],
      [run.id, newToken('api')],
      [run.id, 'x'],
      [run.id, 'eyJhbGciOiJub25lIn0.e30.'],
      [gone.id, gone.token],
      ['nowhere', null],
    ];
    for (const [id, wrong] of cases) {
      const answer = await call('GET', `/runs/${id}`, wrong);
      expect([wrong, answer.status, answer.body.code]).toEqual([wrong, 401, 'unauthenticated']);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    }
    expect((await call('GET', `/runs/${run.id}`, token)).status).toBe(200);
  });

  test('nothing else is served', async () => {
    const run = await makeRun();
    for (const path of [
      '/',
      '/v3/components',
      '/api/v1/status',
      '/healthz',
      '/runs',
      '/docs',
      `/runs/${run.id}/secrets`,
    ]) {
      expect([path, (await call('GET', path, null)).status]).toEqual([path, 401]);
      expect([path, (await call('GET', path, run.token)).status]).toEqual([path, 404]);
    }
    expect((await call('DELETE', `/runs/${run.id}`, run.token)).status).toBe(405);
  });

  test('many wrong tokens of one source are told to wait, and a good one is not stopped by them', async () => {
    // A server of its own: what it remembers would keep the next tests waiting.
    const own = makeApp();
    const run = await makeRun();
    const read = (token: string) =>
      own.inject({ method: 'GET', url: `/runs/${run.id}`, headers: { authorization: `Bearer ${token}` } });
    await read(run.token);
    const wrong = [];
    for (let count = 0; count < 40; count += 1) wrong.push(await read(newToken('run')));
    const waits = wrong.filter(({ statusCode }) => statusCode === 429);
    expect(waits.some(({ headers }) => Number(headers['retry-after']) > 0)).toBe(true);
    expect((await read(run.token)).statusCode).toBe(200);
    await own.close();
  });

  test('a token of a run is worth nothing at the API', async () => {
    const run = await makeRun();
    const api = await createTestApi({ access: { mode: 'token', issuer: undefined } });
    try {
      const answer = await api.call('GET', '/v3/components', undefined, { authorization: `Bearer ${run.token}` });
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    } finally {
      await api.close();
    }
  });

  test('the log has no token, and the database only its hash', async () => {
    const run = await makeRun();
    await call('POST', `/runs/${run.id}/events?first_line=1`, run.token, lines(1, 1));
    expect(logged.join('')).not.toContain('musterrun_');
    expect(logged.some((line) => line.includes(run.id))).toBe(true);
    const row = await database.db
      .selectFrom('run_tokens')
      .selectAll()
      .where('run_id', '=', run.id)
      .executeTakeFirstOrThrow();
    expect(row.hash).toHaveLength(32);
    expect(JSON.stringify(row)).not.toContain(run.token);
  });

  test('a run without session has a stream of its own', async () => {
    const id = `operator.${randomUUID()}`;
    await createStream(database.db, id);
    await ensureRun(database.db, { id, sessionId: null, streamId: id, layer: 0, attempt: 1, host: 'pod' }, new Date());
    const run = { id, sessionId: id, token: await issueRunToken(database.db, id, new Date()) };
    expect((await call('POST', `/runs/${id}/events?first_line=1`, run.token, lines(1, 2))).status).toBe(200);
    expect(await storedLines(run)).toHaveLength(2);
    await expect(issueRunToken(database.db, 'nowhere', new Date())).rejects.toThrow('no run');
  });
});
