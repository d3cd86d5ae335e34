/** The way from the outbox to a real Temporal server. */

import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { createDispatcher } from '../../../control/sessions/dispatcher.ts';
import { createSessionEngine } from '../../../control/sessions/session-engine.ts';
import { startSessionWorkflow } from '../../../control/sessions/start-workflow.ts';
import { connectTemporal } from '../../../control/temporal/connect.ts';
import { MAIN_QUEUE } from '../../../domain/engine/task-queues.ts';
import { sessionWorkflowId } from '../../../domain/sessions/workflow-id.ts';
import { addToOutbox } from '../../../store/sessions/outbox.ts';
import { requestCancel } from '../../../store/sessions/sessions.ts';
import { eventually } from '../../support/eventually.ts';
import { fakeSession, waiting } from '../../support/fakes/fake-session.ts';
import { openProxy, type TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { closeOf, startTestWorker } from '../../support/stack/session-bench.ts';
import { makeSession, sessionNow, snapshotLayer } from '../../support/temporal/engine-sessions.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../../support/temporal/workflow-environment.ts';

describeNeeding(temporalMissing(), 'the dispatcher', () => {
  let server: TestServer;
  let environment: TestWorkflowEnvironment;
  let database: TestDatabase;
  let client: Client;
  const stops: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    [server, database] = await Promise.all([openDevServer(), createTestDatabase()]);
    environment = server.environment;
    client = environment.client;
  });
  afterAll(async () => {
    await database?.close();
    await server?.close();
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await database.db.deleteFrom('outbox').execute();
  });

  const dispatcher = (given: Partial<Parameters<typeof createDispatcher>[0]> = {}) => {
    const warnings: string[] = [];
    const made = createDispatcher({
      db: database.db,
      client,
      log: { warn: (_, text) => void warnings.push(text) },
      pollMs: 20,
      ...given,
    });
    stops.push(made.stop);
    return { ...made, warnings };
  };
  const outboxIsEmpty = async () =>
    (await database.db.selectFrom('outbox').select('id').executeTakeFirst()) === undefined;
  const describeOf = (session: { id: string; name: string }) =>
    client.workflow.getHandle(sessionWorkflowId(session)).describe();
  const startWaitingWorker = async () => {
    const fake = fakeSession(MAIN_QUEUE, { admitSession: async () => waiting(600) });
    stops.push(
      await startTestWorker(environment, {
        taskQueue: MAIN_QUEUE,
        workflowBundle: await workflowBundle(),
        activities: fake.activities,
      }),
    );
    return fake;
  };

  test('starts a workflow that says what it is for', async () => {
    const layers = [snapshotLayer(0, { commit: null }), snapshotLayer(2, { playbook: 'web.yml' })];
    const session = await makeSession(database.db, {
      ansibleLimit: 'h1,h2',
      tags: { 'muster.batch': 'b-7' },
      actor: 'ann',
      snapshot: { layers, additional_inventory: null, debug_playbook: null, ansible_config: 'x' },
    });
    dispatcher().kick();
    await eventually('its delivery', outboxIsEmpty);
    const { status, taskQueue, typedSearchAttributes, staticSummary, staticDetails } = await withMetadata(session);
    expect([status.name, taskQueue]).toEqual(['RUNNING', MAIN_QUEUE]);
    expect(staticSummary).toBe('web on dynamic, limit h1,h2');
    expect(staticDetails).toContain(`Session **${session.name}** of configuration **web**`);
    expect(staticDetails).toContain('by ann');
    expect(staticDetails).toContain('1. `site.yml` of https://git.test/plays.git at its default branch');
    const found = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
    expect(Object.fromEntries(found)).toMatchObject({
      MusterConfiguration: 'web',
      MusterTarget: 'dynamic',
      MusterStatus: 'pending',
      MusterBatch: 'b-7',
    });
  });

  const withMetadata = async (session: { id: string; name: string }) => {
    const handle = client.workflow.getHandle(sessionWorkflowId(session));
    const description = await handle.describe();
    return {
      ...description,
      staticSummary: await description.staticSummary(),
      staticDetails: await description.staticDetails(),
    };
  };

  test('starts what is wide in every way', async () => {
    const url = `https://git.test/${'ä'.repeat(2_000)}.git`;
    const session = await makeSession(database.db, {
      configurationName: '🚀'.repeat(30),
      ansibleLimit: '€'.repeat(5_000),
      tags: { 'muster.batch': '€'.repeat(5_000) },
      snapshot: {
        layers: Array.from({ length: 40 }, (_, index) => snapshotLayer(index, { url })),
        additional_inventory: null,
        debug_playbook: null,
        ansible_config: 'x',
      },
    });
    const { warnings } = dispatcher();
    await eventually('its delivery', outboxIsEmpty);
    expect(warnings).toEqual([]);
    expect((await describeOf(session)).status.name).toBe('RUNNING');
  });

  test('starts each session once, also when there are several and messages come again', async () => {
    const sessions = await Promise.all(Array.from({ length: 20 }, () => makeSession(database.db)));
    for (const { id } of sessions) await addToOutbox(database.db, 'start', id);
    for (const one of [dispatcher(), dispatcher(), dispatcher()]) one.kick();
    await eventually('all deliveries', outboxIsEmpty);
    const first = await Promise.all(sessions.map(describeOf));
    expect(new Set(first.map(({ runId }) => runId)).size).toBe(20);
    for (const { id } of sessions.slice(0, 3)) await addToOutbox(database.db, 'start', id);
    await eventually('the repetitions', outboxIsEmpty);
    expect((await describeOf(sessions[0] ?? { id: '', name: '' })).runId).toBe(first[0]?.runId);
  });

  test('does not start again what was ended from outside, nor what has ended on record', async () => {
    const session = await makeSession(database.db);
    await startSessionWorkflow(client, session);
    const { runId } = await describeOf(session);
    await client.workflow.getHandle(sessionWorkflowId(session)).terminate('enough');
    const ended = await makeSession(database.db);
    await database.db.updateTable('sessions').set({ stage: 'ended' }).where('id', '=', ended.id).execute();
    dispatcher();
    await eventually('the deliveries', outboxIsEmpty);
    expect(await describeOf(session)).toMatchObject({ runId, status: { name: 'TERMINATED' } });
    await expect(describeOf(ended)).rejects.toThrow(/not found/);
  });

  test('delivers everything when Temporal was away', async () => {
    const proxy: TcpProxy = await openProxy(environment.address);
    const temporal = connectTemporal({ address: proxy.address, namespace: 'default', identity: 'test' });
    await proxy.cut();
    const sessions = await Promise.all(Array.from({ length: 5 }, () => makeSession(database.db)));
    const { warnings } = dispatcher({ client: temporal.client, deliveryMs: 3_000 });
    await eventually('a failed try', async () => {
      const row = await database.db
        .selectFrom('outbox')
        .select('last_error')
        .where('last_error', 'is not', null)
        .executeTakeFirst();
      return row !== undefined;
    });
    expect(warnings).toContain('not delivered');
    expect(await outboxIsEmpty()).toBe(false);
    await proxy.mend();
    await eventually('all deliveries', outboxIsEmpty);
    for (const session of sessions) expect((await describeOf(session)).status.name).toBe('RUNNING');
    for (const stop of stops.splice(0)) await stop();
    await temporal.close();
    await proxy.cut();
  });

  test('tells a workflow to cancel, and needs none that is not there', async () => {
    const fake = await startWaitingWorker();
    const [session, unknown] = [await makeSession(database.db), await makeSession(database.db)];
    await database.db.deleteFrom('outbox').where('session_id', '=', unknown.id).execute();
    dispatcher();
    await eventually('its start', outboxIsEmpty);
    const cancel = { actor: null, reason: 'cancelled: no more', message: 'is being cancelled', now: new Date() };
    for (const { id } of [session, unknown]) await requestCancel(database.db, id, cancel);
    await eventually('the word', outboxIsEmpty);
    expect(await closeOf(client.workflow.getHandle(sessionWorkflowId(session)))).toEqual({ state: 'cancelled' });
    expect(fake.inputs('recordEnd')).toEqual([
      { succeeded: 'false', message: 'cancelled: no more', reason: 'cancelled' },
    ]);
  });

  test('commands: what the workflow refuses comes back in words of the catalogue', async () => {
    const engine = createSessionEngine({ db: database.db, client, clock: () => new Date() });
    const [session, unknown] = [await makeSession(database.db), await makeSession(database.db)];
    const code = (name: string) => expect.objectContaining({ code: name });
    const nobody = '00000000-0000-4000-8000-000000000000';
    await expect(engine.finishDebug(nobody)).rejects.toEqual(code('session_not_found'));
    await expect(engine.finishDebug(unknown.id)).rejects.toEqual(code('session_not_holding'));
    await startSessionWorkflow(client, session);
    const fake = await startWaitingWorker();
    // A command has its answer in time only from a worker that works by then.
    await eventually('it stands in line', () => fake.inputs('admitSession').length > 0);
    await expect(engine.finishDebug(session.id)).rejects.toEqual(code('session_not_holding'));
    await expect(engine.retryInPlace(session.id, 'failed')).rejects.toEqual(code('session_not_holding'));
    await client.workflow.getHandle(sessionWorkflowId(session)).terminate('enough');
    await expect(engine.retryInPlace(session.id, 'all')).rejects.toEqual(code('session_not_holding'));
    expect((await sessionNow(database.db, session.id)).stage).toBe('queued');
  });

  test('commands: nobody who works on the workflow is said within seconds', async () => {
    const engine = createSessionEngine({ db: database.db, client, clock: () => new Date() });
    const session = await makeSession(database.db);
    await startSessionWorkflow(client, session);
    const refused = engine.finishDebug(session.id);
    await expect(refused).rejects.toMatchObject({
      code: 'engine_unavailable',
      message: expect.stringContaining(session.name),
    });
  });
});
