/** The comparison of the two stores, on a real Temporal server and a real database. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { sql } from 'kysely';
import { recordLayer } from '../../../control/components/record-layer.ts';
import { deleteSession } from '../../../control/sessions/delete-session.ts';
import { startSessionWorkflow } from '../../../control/sessions/start-workflow.ts';
import { machinesToVisit, sweepSessions } from '../../../control/sessions/sweep-sessions.ts';
import { connectTemporal } from '../../../control/temporal/connect.ts';
import { sessionWorkflowId } from '../../../domain/sessions/workflow-id.ts';
import { insertHostResults } from '../../../store/runs/host-results.ts';
import { ensureRun } from '../../../store/runs/runs.ts';
import { appendEvents, appendOutput } from '../../../store/runs/streams.ts';
import type { NewSession, SessionRow } from '../../../store/sessions/sessions.ts';
import { writeEnd } from '../../../store/sessions/write-end.ts';
import { reconcileSchedules } from '../../../worker/schedules.ts';
import { eventually } from '../../support/eventually.ts';
import { openProxy } from '../../support/fakes/tcp-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { COMMIT, makeSession, sessionNow, signalClient } from '../../support/temporal/engine-sessions.ts';
import { laneSchedules } from '../../support/temporal/lane-schedules.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer } from '../../support/temporal/workflow-environment.ts';

const LONG_AGO = () => new Date(Date.now() - 60_000);

describeNeeding(temporalMissing(), 'the orphan sweep', () => {
  let server: TestServer;
  let database: TestDatabase;
  let client: Client;
  beforeAll(async () => {
    [server, database] = await Promise.all([openDevServer(), createTestDatabase()]);
    client = server.environment.client;
  });
  afterAll(async () => {
    await database?.close();
    await server?.close();
  });
  afterEach(async () => {
    for (const table of ['sessions', 'outbox', 'runs', 'streams', 'events', 'output', 'host_results'] as const) {
      await database.db.deleteFrom(table).execute();
    }
  });

  const sweep = () => sweepSessions({ db: database.db, client, clock: () => new Date() });
  /** A session that was made a minute ago and whose start message was delivered. */
  async function settled(given: Partial<NewSession> = {}): Promise<SessionRow> {
    const session = await makeSession(database.db, { now: LONG_AGO(), ...given });
    await database.db.deleteFrom('outbox').where('session_id', '=', session.id).execute();
    return session;
  }
  const withWorkflow = async (session: SessionRow) => {
    await startSessionWorkflow(client, session);
    return client.workflow.getHandle(sessionWorkflowId(session));
  };
  const withRun = ({ id }: SessionRow, layer = 0) =>
    ensureRun(
      database.db,
      { id: `${id}-1-${layer}`, sessionId: id, streamId: id, layer, attempt: 1, host: 'host-a' },
      new Date(),
    );
  const admit = (session: SessionRow) =>
    database.db
      .updateTable('sessions')
      .set({ stage: 'admitted', status: 'running' })
      .where('id', '=', session.id)
      .execute();
  const messages = () => database.db.selectFrom('outbox').select(['kind', 'session_id']).execute();

  test('starts a session again that no workflow has and no run had, once', async () => {
    const [queued, admitted] = [await settled(), await settled()];
    await admit(admitted);
    const report = await sweep();
    expect(report).toMatchObject({ restarted: [queued.name, admitted.name], ended: [] });
    expect(await sweep()).toMatchObject({ restarted: [], ended: [] });
    expect(await messages()).toEqual([queued, admitted].map(({ id }) => ({ kind: 'start', session_id: id })));
    expect(await sessionNow(database.db, queued.id)).toMatchObject({ stage: 'queued' });
  });

  test('gives a young session time to reach the engine', async () => {
    await settled({ now: new Date() });
    expect(await sweep()).toMatchObject({ restarted: [], ended: [] });
    expect(await messages()).toEqual([]);
  });

  test('ends a session whose workflow is lost after a run was begun: nobody knows how it went', async () => {
    const session = await settled();
    await admit(session);
    await withRun(session);
    const report = await sweep();
    expect(report).toMatchObject({ restarted: [], ended: [session.name] });
    expect(await machinesToVisit({ db: database.db, clock: () => new Date() })).toEqual(['host-a']);
    expect(await sessionNow(database.db, session.id)).toMatchObject({
      stage: 'ended',
      status: 'complete',
      succeeded: 'unknown',
      reason: 'workflow_ended',
      message: expect.stringContaining('lost'),
    });
    expect(await sweep()).toMatchObject({ ended: [] });
  });

  test('ends sessions whose workflows were ended from outside, and leaves alone those that run', async () => {
    const [terminated, withItsRun, running] = [await settled(), await settled(), await settled()];
    await (await withWorkflow(terminated)).terminate('enough');
    await withRun(withItsRun);
    await (await withWorkflow(withItsRun)).terminate('enough');
    await withWorkflow(running);
    await withRun(running);
    const report = await sweep();
    expect(report.ended.sort()).toEqual([terminated.name, withItsRun.name].sort());
    for (const { id } of [terminated, withItsRun]) {
      expect(await sessionNow(database.db, id)).toMatchObject({
        succeeded: 'unknown',
        reason: 'workflow_ended',
        message: 'its workflow was ended from outside (terminated)',
      });
    }
    expect(await sessionNow(database.db, running.id)).toMatchObject({ stage: 'queued', status: 'pending' });
    // Nor does a message that comes again bring one back.
    await startSessionWorkflow(client, terminated);
    const { status } = await client.workflow.getHandle(sessionWorkflowId(terminated)).describe();
    expect(status.name).toBe('TERMINATED');
  });

  test('keeps what was completed from outside, and gives its slot back', async () => {
    const session = await settled();
    await admit(session);
    await withRun(session);
    await database.db
      .updateTable('sessions')
      .set({ status: 'complete', succeeded: 'true', message: 'theirs' })
      .where('id', '=', session.id)
      .execute();
    await sweep();
    expect(await sessionNow(database.db, session.id)).toMatchObject({
      stage: 'ended',
      succeeded: 'true',
      message: 'theirs',
    });
  });

  test('ends a deleted session too', async () => {
    const session = await settled();
    await withRun(session);
    await deleteSession(
      { db: database.db, dispatcher: { kick: () => undefined }, clock: () => new Date() },
      { actor: null },
      session.name,
    );
    expect((await sweep()).ended).toEqual([session.name]);
    expect((await sessionNow(database.db, session.id)).purged_at).not.toBeNull();
  });

  test('waits for Temporal no longer than for any answer of it', async () => {
    await settled();
    const proxy = await openProxy('127.0.0.1:9');
    // It takes connections and says nothing.
    proxy.freeze();
    const away = connectTemporal({ address: proxy.address, namespace: 'default', identity: 'away@test' });
    const swept = sweepSessions({ db: database.db, client: away.client, clock: () => new Date() });
    await expect(swept).rejects.toThrow(/no answer within 3 s|deadline/i);
    await away.close();
    await proxy.cut();
  });

  test('wakes the queue', async () => {
    const session = await settled({ now: new Date() });
    const { client: noting, signalled } = signalClient();
    await sweepSessions({ db: database.db, client: noting, clock: () => new Date() });
    expect(signalled).toEqual([sessionWorkflowId(session)]);
  });

  describe('removes what deleted sessions leave', () => {
    const COUNTS = { ok: 1, changed: 0, failures: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 };
    const full = async () => {
      const session = await settled();
      const { db } = database;
      const run = await withRun(session);
      const place = { streamId: session.id, runId: run.id, layer: 0, attempt: 1 };
      await appendEvents(db, place, [{ time: new Date(), type: 'warning', host: null, line: 1, data: {} }]);
      await appendOutput(db, place, 0, 'x');
      const result = { host: `h-${randomUUID()}`, status: 'applied' as const, ...COUNTS };
      await insertHostResults(db, { ...run, runId: run.id }, [result]);
      return session;
    };
    const PLACES = [
      ['streams', 'id'],
      ['events', 'stream_id'],
      ['output', 'stream_id'],
      ['runs', 'session_id'],
      ['host_results', 'session_id'],
    ] as const;
    const traces = ({ id }: SessionRow) =>
      Promise.all(
        PLACES.map(async ([table, column]) => {
          const { rows } = await sql<{ count: number }>`
            select count(*) as count from ${sql.table(table)} where ${sql.ref(column)}::text = ${id}
          `.execute(database.db);
          return rows[0]?.count;
        }),
      );

    test('and nothing of others', async () => {
      const [gone, kept] = [await full(), await full()];
      await writeEnd(database.db, gone.id, { succeeded: 'true', message: 'done', reason: null }, new Date());
      await writeEnd(database.db, kept.id, { succeeded: 'true', message: 'done', reason: null }, new Date());
      await deleteSession(
        { db: database.db, dispatcher: { kick: () => undefined }, clock: () => new Date() },
        { actor: null },
        gone.name,
      );
      expect(await sweep()).toMatchObject({ purged: 1 });
      expect(await traces(gone)).toEqual([0, 0, 0, 0, 0]);
      expect(await traces(kept)).toEqual([1, 1, 1, 1, 1]);
      expect(await sweep()).toMatchObject({ purged: 0 });
      // What comes late of a run that is gone is stored nowhere, and hurts nobody.
      const late = { runId: `${gone.id}-1-0`, streamId: gone.id, layer: 0, attempt: 1 };
      const report = { ...late, sessionName: gone.name, cloneUrl: 'u', playbook: 'p', commit: COMMIT };
      await recordLayer(database.db, report, new Date());
      expect(await traces(gone)).toEqual([0, 0, 0, 0, 0]);
    });
  });

  test('has a schedule that is made, and brought to what the code says', async () => {
    await reconcileSchedules(client, laneSchedules());
    const handle = client.schedule.getHandle('muster-sweep');
    const { action } = await handle.describe();
    await handle.update((previous) => ({ ...previous, spec: { intervals: [{ every: '9m' }] } }));
    await eventually('the change', async () => (await handle.describe()).spec.intervals?.[0]?.every === 540_000);
    await Promise.all([reconcileSchedules(client, laneSchedules()), reconcileSchedules(client, laneSchedules())]);
    const { spec, policies } = await eventually('the schedule of the code', async () => {
      const described = await handle.describe();
      return described.spec.intervals?.[0]?.every === 600_000 && described;
    });
    expect(spec.intervals).toHaveLength(1);
    expect(policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 60_000 });
    expect(action).toMatchObject({ type: 'startWorkflow', workflowType: 'sweepWorkflow', taskQueue: 'muster' });
    await handle.delete();
    await reconcileSchedules(client, laneSchedules());
    expect((await handle.describe()).action).toMatchObject({ workflowType: 'sweepWorkflow' });
    await handle.delete();
  });
});
