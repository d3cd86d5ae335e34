import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { getSession } from '../../../control/sessions/find-session.ts';
import { createLogIndexes } from '../../../control/sessions/log-index.ts';
import { readLogLines } from '../../../control/sessions/read-log-lines.ts';
import { ensureRun, markRunRecorded } from '../../../store/runs/runs.ts';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';
import { addConfiguration, addOutput, endSession, sessionId, setSession } from '../session-fixtures.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi({ clock: () => new Date() });
  await addConfiguration(api.deps.db, 'web', 2);
});
afterAll(() => api.close());

let count = 0;
async function make(): Promise<{ name: string; id: string }> {
  const name = `lines-${++count}`;
  await api.call('POST', '/v3/sessions', { configuration_name: 'web', name });
  const id = await sessionId(api.deps.db, name);
  await setSession(api.deps.db, id, { stage: 'admitted', status: 'running', phase: 'layer', layer: 0 });
  return { name, id };
}
const get = (path: string) => api.call('GET', `/api/v1/sessions/${path}`);
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('');
/** When the piece of a line arrived. */
const ARRIVED = expect.stringMatching(/^\d{4}-.*Z$/);
const numbersOf = ({ body }: { body: { lines: { number: number }[] } }) => body.lines.map(({ number }) => number);

describe('lines of a log', () => {
  let name: string;
  let id: string;
  /** Pieces of some 100 KB, so that the index has several places to begin at. */
  beforeAll(async () => {
    ({ name, id } = await make());
    for (let piece = 0; piece < 5; piece += 1) {
      await addOutput(api.deps.db, id, 0, piece * 1_000_000, numbered(piece * 10_000 + 1, (piece + 1) * 10_000));
    }
    await addOutput(api.deps.db, id, 0, 5_000_000, 'not ended');
  });

  test('are a page from any number on', async () => {
    const first = await get(`${name}/log-lines?layer=0&attempt=1&limit=2`);
    expect(first.body).toEqual({
      layer: 0,
      attempt: 1,
      lines: [
        { number: 1, text: 'line 1', at: ARRIVED },
        { number: 2, text: 'line 2', at: ARRIVED },
      ],
      total: 50_001,
      gaps: [],
      complete: false,
      next: { layer: 0, attempt: 1, from: 3, limit: 2 },
    });
    for (const from of [1, 9_999, 10_000, 10_001, 23_456, 40_001, 49_000]) {
      const { body } = await get(`${name}/log-lines?from=${from}`);
      expect(body.lines).toHaveLength(500);
      expect(body.lines[0]).toEqual({ number: from, text: `line ${from}`, at: ARRIVED });
      expect(body.lines[499]).toEqual({ number: from + 499, text: `line ${from + 499}`, at: ARRIVED });
    }
  });

  test('end with what has not ended', async () => {
    const last = await get(`${name}/log-lines?from=50000`);
    expect(last.body).toMatchObject({
      lines: [
        { number: 50_000, text: 'line 50000' },
        { number: 50_001, text: 'not ended' },
      ],
      next: null,
    });
    expect(numbersOf(await get(`${name}/log-lines?tail=3`))).toEqual([49_999, 50_000, 50_001]);
    expect((await get(`${name}/log-lines?from=60000`)).body).toMatchObject({ lines: [], total: 50_001, next: null });
  });

  test('are found by a text, a page at a time', async () => {
    expect(numbersOf(await get(`${name}/log-search?q=LINE 4999`))).toEqual([
      4_999,
      ...Array.from({ length: 10 }, (_, index) => 49_990 + index),
    ]);
    expect((await get(`${name}/log-search?q=LINE&case=true`)).body).toMatchObject({ lines: [], next: null });
    const first = await get(`${name}/log-search?q=line 100&limit=2`);
    expect(first.body).toMatchObject({
      lines: [{ number: 100 }, { number: 1_000 }],
      next: { layer: 0, attempt: 1, q: 'line 100', after: 1_000, limit: 2 },
    });
    expect(numbersOf(await get(`${name}/log-search?q=line 100&limit=2&after=1000`))).toEqual([1_001, 1_002]);
    // A pattern is a text.
    expect((await get(`${name}/log-search?q=line .*`)).body).toMatchObject({ lines: [], next: null });
  });

  test('that come are counted on', async () => {
    await addOutput(api.deps.db, id, 0, 6_000_000, ' but now\nfatal: [n1]: FAILED! => {}\n');
    expect((await get(`${name}/log-lines?from=50001`)).body).toMatchObject({
      lines: [
        { number: 50_001, text: 'not ended but now' },
        { number: 50_002, text: 'fatal: [n1]: FAILED! => {}' },
      ],
      total: 50_002,
    });
    expect((await get(`${name}/log-marks`)).body).toMatchObject({ failed: [50_002], total: 50_002, more: false });
  });
});

test('a log with a gap keeps the numbers of its lines', async () => {
  const { name, id } = await make();
  const note = '\n[muster] 80 lines, 900 bytes of output were left out here\n';
  await addOutput(api.deps.db, id, 0, 0, numbered(1, 10));
  await addOutput(api.deps.db, id, 0, 1_000, note + numbered(91, 100));
  const { body } = await get(`${name}/log-lines`);
  expect(body).toMatchObject({ total: 100, gaps: [{ after: 10, lines: 80, bytes: 900 }] });
  expect(body.lines.map(({ text }: { text: string }) => text)).toEqual(
    [...Array(10).keys(), ...Array.from({ length: 10 }, (_, index) => index + 90)].map((index) => `line ${index + 1}`),
  );
  expect(numbersOf(await get(`${name}/log-lines?from=50&limit=2`))).toEqual([91, 92]);
  expect(numbersOf(await get(`${name}/log-lines?tail=12`))).toEqual([9, 10, ...numbersOf({ body }).slice(10)]);
  expect(numbersOf(await get(`${name}/log-search?q=line 9`))).toEqual([9, ...numbersOf({ body }).slice(10, 19)]);
});

test('marks are of failures, tasks and plays; failures are found as lines', async () => {
  const { name, id } = await make();
  const output = [
    'PLAY [all] ***',
    'TASK [one] ***',
    'fatal: [n1]: FAILED! => {"msg": "no"}',
    'fatal: [n2]: UNREACHABLE! => {}',
    'ok: [n3]',
  ];
  await addOutput(api.deps.db, id, 0, 0, `${output.join('\n')}\n`);
  expect((await get(`${name}/log-marks`)).body).toEqual({
    ...{ layer: 0, attempt: 1, failed: [3], unreachable: [4], task: [2], play: [1], more: false, total: 5 },
  });
  const found = await get(`${name}/log-search?failures=true`);
  expect(found.body).toMatchObject({ lines: [{ number: 3, text: output[2] }, { number: 4 }], next: null });
  expect(numbersOf(await get(`${name}/log-search?failures=true&q="msg"`))).toEqual([3]);
});

test('the newest output is meant where nothing else is said', async () => {
  const { name, id } = await make();
  expect((await get(`${name}/log-lines`)).body).toMatchObject({ layer: 0, attempt: 1, lines: [], total: 0 });
  await addOutput(api.deps.db, id, 0, 0, 'of the first\n');
  await addOutput(api.deps.db, id, 1, 0, 'of the second\n');
  expect((await get(`${name}/log-lines`)).body).toMatchObject({ layer: 1, lines: [{ text: 'of the second' }] });
  expect((await get(`${name}/log-lines?layer=0`)).body).toMatchObject({ layer: 0, lines: [{ text: 'of the first' }] });
  expect((await get(`${name}/log-lines?layer=0&attempt=7`)).body).toMatchObject({ attempt: 7, lines: [], total: 0 });
});

test('a long line is cut, unless all of it is wanted', async () => {
  const { name, id } = await make();
  await addOutput(api.deps.db, id, 0, 0, `${'x'.repeat(3_000)}${'y'.repeat(3_000)}z\n`);
  const { body } = await get(`${name}/log-lines`);
  expect(body.lines).toEqual([{ number: 1, text: 'x'.repeat(3_000) + 'y'.repeat(1_000), at: ARRIVED, length: 6_001 }]);
  const whole = await get(`${name}/log-lines?whole=true`);
  expect(whole.body.lines).toEqual([{ number: 1, text: `${'x'.repeat(3_000)}${'y'.repeat(3_000)}z`, at: ARRIVED }]);
  // Also behind the cut something is found.
  expect(numbersOf(await get(`${name}/log-search?q=yz`))).toEqual([1]);
});

test('pages of very long lines end early', async () => {
  const { name, id } = await make();
  for (let line = 0; line < 3; line += 1) {
    await addOutput(api.deps.db, id, 0, line * 1_000_000, `${'x'.repeat(700_000)}\n`);
  }
  const { body } = await get(`${name}/log-lines?whole=true`);
  expect(numbersOf({ body })).toEqual([1, 2]);
  expect(body.next).toEqual({ layer: 0, attempt: 1, from: 3, limit: 500 });
});

test('pages of long lines that match end early', async () => {
  const { name, id } = await make();
  await addOutput(api.deps.db, id, 0, 0, `${'x'.repeat(4_000)}\n`.repeat(300));
  const first = await get(`${name}/log-search?q=xx`);
  expect(first.body.lines).toHaveLength(251);
  expect(first.body.next).toMatchObject({ after: 251, q: 'xx' });
  const rest = await get(`${name}/log-search?q=xx&after=251`);
  expect(rest.body).toMatchObject({ next: null });
  expect(numbersOf(rest)).toEqual(Array.from({ length: 49 }, (_, index) => 252 + index));
});

test('an answer is of one time, although the log goes on', async () => {
  const { db } = api.deps;
  const { name, id } = await make();
  await addOutput(db, id, 0, 0, numbered(1, 3));
  const known = await createLogIndexes(db)({ streamId: id, layer: 0, attempt: 1 });
  await addOutput(db, id, 0, 1_000, `\n[muster] 80 lines, 900 bytes of output were left out here\n${numbered(84, 90)}`);
  const read = (wanted: object) =>
    getSession(db, name).then((session) =>
      readLogLines({ db, logs: async () => known }, session, { from: 1, limit: 10, ...wanted }),
    );
  const page = await read({});
  expect(page).toMatchObject({ total: 3, gaps: [], next: { from: 84 } });
  expect(numbersOf({ body: page })).toEqual([1, 2, 3]);
  expect(numbersOf({ body: await read({ tail: 2 }) })).toEqual([2, 3]);
});

describe('a log is complete', () => {
  test('as soon as its run is recorded', async () => {
    const { name, id } = await make();
    const runId = `${id}-1-0`;
    const run = { id: runId, sessionId: id, streamId: id, layer: 0, attempt: 1, host: 'disk' };
    await ensureRun(api.deps.db, run, new Date());
    await addOutput(api.deps.db, id, 0, 0, 'a\n');
    expect((await get(`${name}/log-lines?layer=0`)).body).toMatchObject({ complete: false });
    await markRunRecorded(api.deps.db, runId, new Date());
    expect((await get(`${name}/log-lines?layer=0`)).body).toMatchObject({ complete: true });
    expect((await get(`${name}/log-lines?layer=1`)).body).toMatchObject({ complete: false });
  });

  test('when the session has ended', async () => {
    const { name, id } = await make();
    await endSession(api.deps.db, id, 'false');
    expect((await get(`${name}/log-lines`)).body).toMatchObject({ complete: true, total: 0 });
  });
});

test('what cannot be is refused', async () => {
  const { name } = await make();
  for (const path of ['log-lines?from=0', 'log-lines?limit=1001', 'log-search?q=', 'log-search', 'log-lines?lines=1']) {
    const { status, body } = await get(`${name}/${path}`);
    expect([path, status, body.code]).toEqual([path, 400, 'bad_request']);
  }
  expect((await get('none/log-lines')).status).toBe(404);
});

test('a log is kept as a file', async () => {
  const { name, id } = await make();
  await addOutput(api.deps.db, id, 0, 0, 'a\n');
  await addOutput(api.deps.db, id, 1, 0, 'b\n');
  const response = await api.app.inject({ url: `/api/v1/sessions/${name}/logs?layer=0&download=true` });
  expect(response.headers).toMatchObject({
    'content-disposition': `attachment; filename="${name}.log"`,
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
  expect(response.body).toBe('a\n');
});

test('a line has the time at which the piece arrived that it ends in; output of an older release has none', async () => {
  const { name, id } = await make();
  await addOutput(api.deps.db, id, 0, 0, 'whole\nbegun ');
  await sql`update output set at = null where stream_id = ${id}`.execute(api.deps.db);
  await addOutput(api.deps.db, id, 0, 100, 'and ended\n');
  const { body } = await get(`${name}/log-lines`);
  expect(body.lines).toEqual([
    { number: 1, text: 'whole', at: null },
    { number: 2, text: 'begun and ended', at: ARRIVED },
  ]);
  expect((await get(`${name}/log-search?q=whole`)).body.lines).toEqual([{ number: 1, text: 'whole', at: null }]);
});

test('another session that has the name now is not read as the one that is meant', async () => {
  const { name, id } = await make();
  const other = '01234567-89ab-4cde-8f01-23456789abcd';
  for (const path of ['', '/hosts', '/progress', '/events', '/logs', '/log-lines', '/log-search?q=a', '/log-marks']) {
    const ask = (wanted: string) => get(`${name}${path}${path.includes('?') ? '&' : '?'}id=${wanted}`);
    expect([path, (await ask(id)).status]).toEqual([path, 200]);
    const refused = await ask(other);
    expect([path, refused.status, refused.body.code]).toEqual([path, 410, 'session_replaced']);
    expect(refused.body.detail).toContain(id);
    expect((await ask('x')).status).toBe(400);
  }
});
