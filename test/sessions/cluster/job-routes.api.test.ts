import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pino from 'pino';
import { createIngestApp } from '../../../api/ingest/ingest-app.ts';
import type { ApiServer } from '../../../api/server/api-server.ts';
import { finishJob, settleJob } from '../../../control/sessions/cluster/record-job.ts';
import { issueJobToken } from '../../../control/sessions/cluster/session-of-job-token.ts';
import type { JobView } from '../../../domain/sessions/cluster/cluster-job.ts';
import type { RunOrder } from '../../../domain/sessions/job-schema.ts';
import { ensureRun, findRun } from '../../../store/runs/runs.ts';
import { giveOrder } from '../../../store/sessions/job-orders.ts';
import { findSessionJob, saveSessionJob } from '../../../store/sessions/session-jobs.ts';
import { findSessionById } from '../../../store/sessions/sessions.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { makeSession, sessionNow } from '../../support/temporal/engine-sessions.ts';

const SPOOL = 600;
const FILES = { 'hosts/01-cfs-generated.yaml': '"all": {}\n' };

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

beforeAll(async () => {
  database = await createTestDatabase();
  app = createIngestApp({
    db: database.db,
    log: pino({ level: 'silent' }),
    clock: () => now.value,
    spoolSeconds: SPOOL,
    logMax: 20_000,
    tls: undefined,
  });
});
afterAll(async () => {
  await app?.close();
  await database?.close();
});

async function makeJob() {
  const { db } = database;
  const session = await makeSession(db);
  const name = `cfs-${randomUUID()}`;
  await saveSessionJob(
    db,
    {
      sessionId: session.id,
      name,
      profile: 'restricted',
      inventory: { files: FILES },
      leases: false,
    },
    new Date(),
  );
  return { sessionId: session.id, name, token: await issueJobToken(db, session.id, new Date()) };
}

const run = (id: string): RunOrder => ({
  id,
  layer: 0,
  attempt: 1,
  playbook: 'site.yml',
  debug: false,
  arguments: ['-v'],
  limit_file: null,
  environment: { SESSION_NAME: 's' },
  cwd: '/inventory/layer0',
  log_max: 1000,
});

async function call(
  method: string,
  url: string,
  token: string | null,
  body?: object,
  headers: Record<string, string> = {},
) {
  const response = await app.inject({
    method: method as 'GET',
    url,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  return { status: response.statusCode, body: response.body === '' ? null : response.json() };
}

const view = (sessionId: string): JobView => ({
  name: 'j',
  sessionId,
  phase: 'failed',
  reason: '',
  message: '',
  containers: [],
  trouble: null,
});

describe("a session's pod", () => {
  test('reads the inventory that was prepared', async () => {
    const { sessionId, token } = await makeJob();
    expect(await call('GET', `/jobs/${sessionId}/inventory`, token)).toEqual({ status: 200, body: { files: FILES } });
  });

  test('gets each order once, by its number', async () => {
    const { db } = database;
    const { sessionId, token } = await makeJob();
    const next = (after: number) => call('GET', `/jobs/${sessionId}/next?after=${after}`, token);
    expect((await next(0)).body).toEqual({ action: 'wait' });
    const order = { action: 'run', run: run(`${sessionId}-1-0`) } as const;
    const { id, layer, attempt } = order.run;
    await ensureRun(db, { id, sessionId, streamId: sessionId, layer, attempt, host: 'pod' }, new Date());
    expect(await giveOrder(db, sessionId, order)).toBe(true);
    expect(await giveOrder(db, sessionId, order)).toBe(false);
    expect((await next(0)).body).toEqual({ number: 1, ...order });
    expect((await next(1)).body).toEqual({ action: 'wait' });
    await finishJob(db, sessionId, 1);
    expect((await next(1)).body).toEqual({ number: 2, action: 'finish', exit_code: 1 });
    expect((await call('GET', `/jobs/${sessionId}/teardown`, token)).body).toEqual({ done: true, exit_code: 1 });
  });

  test('of an older release gets the files of extra variables in their words', async () => {
    const { sessionId, token } = await makeJob();
    const word = '--extra-vars=@/muster/work/extra-vars-0';
    const files = { '/muster/work/extra-vars-0': '{"a":"1"}' };
    const order = { action: 'run' as const, run: { ...run(`${sessionId}-1-0`), arguments: ['-v', word], files } };
    const { id, layer, attempt } = order.run;
    await ensureRun(database.db, { id, sessionId, streamId: sessionId, layer, attempt, host: 'pod' }, new Date());
    expect(await giveOrder(database.db, sessionId, order)).toBe(true);
    expect((await call('GET', `/jobs/${sessionId}/next?after=0&files=1`, token)).body).toEqual({ number: 1, ...order });
    const { run: older } = (await call('GET', `/jobs/${sessionId}/next?after=0`, token)).body;
    expect(older).toEqual({ ...run(id), arguments: ['-v', '--extra-vars={"a":"1"}'] });
  });

  test('waits for an order that is given meanwhile', async () => {
    const { sessionId, token } = await makeJob();
    const asked = call('GET', `/jobs/${sessionId}/next?wait=20`, token);
    await finishJob(database.db, sessionId, 0);
    expect((await asked).body).toMatchObject({ action: 'finish' });
  });

  test('hands in the runs of its session with its token', async () => {
    const { sessionId, token } = await makeJob();
    const id = `${sessionId}-1-0`;
    await ensureRun(
      database.db,
      { id, sessionId, streamId: sessionId, layer: 0, attempt: 1, host: 'kubernetes' },
      new Date(),
    );
    const exit = { code: 0, signal: null, ended_at: '2026-11-22T00:00:00Z' };
    expect((await call('PUT', `/runs/${id}/exit`, token, exit)).status).toBe(200);
    expect((await findRun(database.db, id))?.state).toBe('ended');
  });

  const warningsOf = async (sessionId: string) => {
    const events = database.db.selectFrom('events').select('data').where('stream_id', '=', sessionId);
    const rows = await events.where('type', '=', 'warning').orderBy('seq').execute();
    return rows.map(({ data }) => (data as { message: string }).message);
  };

  test('says how a step goes: the record shows it, and a repetition changes nothing', async () => {
    const { sessionId, token } = await makeJob();
    const report = { state: 'failed', code: 'repository_auth_failed', message: 'layer 0: nope', warnings: ['w'] };
    for (let time = 0; time < 2; time += 1) {
      expect((await call('POST', `/jobs/${sessionId}/steps/clone`, token, report)).status).toBe(204);
    }
    const session = await findSessionById(database.db, sessionId);
    expect(session).toMatchObject({ reason: 'repository_auth_failed' });
    expect(session?.message).toMatch(/^clone failed: layer 0: nope$/);
    expect(await warningsOf(sessionId)).toEqual(['clone failed: layer 0: nope', 'w']);
  });

  test('says why a step tries again, and when it does no more', async () => {
    const { sessionId, token } = await makeJob();
    const says = async (report: object) => {
      expect((await call('POST', `/jobs/${sessionId}/steps/clone`, token, report)).status).toBe(204);
      const { phase, message, reason } = await sessionNow(database.db, sessionId);
      return { phase, message, reason };
    };
    const cloning = { phase: 'clone', message: 'cloning', reason: null };
    expect(await says({ state: 'started' })).toEqual(cloning);
    const trouble = { state: 'started', code: 'clone_failed', message: 'layer 0: the server says 503' };
    expect(await says(trouble)).toEqual({
      phase: 'clone',
      message: 'clone failed, trying again: layer 0: the server says 503',
      reason: 'clone_failed',
    });
    expect(await says({ ...trouble, code: 'of another release' })).toMatchObject({ phase: 'clone', reason: null });
    expect(await says({ state: 'started' })).toEqual(cloning);
    // Each reason stays where it can be read later, once.
    await says(trouble);
    await says({ ...trouble, message: 'layer 1: no route to host' });
    await says({ state: 'failed', code: 'clone_failed', message: 'layer 1: no route to host' });
    expect(await warningsOf(sessionId)).toEqual([
      'clone failed, trying again: layer 0: the server says 503',
      'clone failed, trying again: layer 1: no route to host',
      'clone failed: layer 1: no route to host',
    ]);
  });
});

describe('refused', () => {
  test('another session, its runs, and no token', async () => {
    const [mine, other] = [await makeJob(), await makeJob()];
    const paths = [
      `/jobs/${other.sessionId}/next`,
      `/jobs/${other.sessionId}/inventory`,
      `/runs/${other.sessionId}-1-0`,
    ];
    for (const path of paths) {
      expect(await call('GET', path, mine.token)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    expect(await call('GET', `/jobs/${mine.sessionId}/next`, null)).toMatchObject({ status: 401 });
  });

  test.each([
    ['an unknown step', 'POST', 'steps/cook', { state: 'done' }],
    ['an unknown state', 'POST', 'steps/clone', { state: 'maybe' }],
    ['an unknown member', 'POST', 'steps/clone', { state: 'done', more: 1 }],
    ['a wait that is too long', 'GET', 'next?wait=3600', undefined],
    ['a number below 0', 'GET', 'next?after=-1', undefined],
  ])('%s', async (_name, method, path, body) => {
    const { sessionId, token } = await makeJob();
    const answer = await call(method, `/jobs/${sessionId}/${path}`, token, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'bad_request' } });
    expect((await findSessionJob(database.db, sessionId))?.steps).toEqual({});
  });

  test('a version of the protocol that is not known; the one before is', async () => {
    const { sessionId, token } = await makeJob();
    const speak = (version: string) =>
      call('GET', `/jobs/${sessionId}/next`, token, undefined, { 'muster-runner-protocol': version });
    expect((await speak('1')).status).toBe(200);
    expect((await speak('2')).status).toBe(200);
    expect(await speak('3')).toMatchObject({ status: 400, body: { code: 'runner_protocol_unsupported' } });
  });

  test('a token whose Job ended longer ago than the spool time', async () => {
    const { sessionId, token } = await makeJob();
    const outcome = { succeeded: 'false', code: 'runner_failed', message: 'x' } as const;
    await settleJob(database.db, sessionId, { view: view(sessionId), outcome, unverified: null }, new Date());
    expect((await call('GET', `/jobs/${sessionId}/next`, token)).status).toBe(200);
    now.value = new Date(Date.now() + (SPOOL + 5) * 1000);
    expect((await call('GET', `/jobs/${sessionId}/next`, token)).status).toBe(401);
    now.value = new Date();
  });
});
