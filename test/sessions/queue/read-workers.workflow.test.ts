/** Who takes up work, as a real Temporal server tells it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readQueues, readWorkers } from '../../../control/sessions/read-workers.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { startTestWorker } from '../../support/stack/session-bench.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../../support/temporal/workflow-environment.ts';

describeNeeding(temporalMissing(), 'workers of a queue', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await openDevServer();
  });
  afterAll(() => server?.close());

  const read = (queue: string, now = new Date()) => {
    const { connection, namespace } = server.environment;
    return readWorkers(connection, { namespace: namespace ?? 'default', queue, now });
  };

  test('nobody, then those who ask, until they have long been silent', async () => {
    const queue = 'workers-of-a-queue';
    expect(await read(queue)).toEqual({ ok: false, reason: expect.stringContaining('no worker has asked'), count: 0 });
    const stop = await startTestWorker(server.environment, {
      taskQueue: queue,
      workflowBundle: await workflowBundle(),
      activities: {},
    });
    await eventually('the worker is seen', async () => (await read(queue)).count === 1);
    expect(await read(queue)).toEqual({ ok: true, reason: null, count: 1 });
    await stop();
    const later = await read(queue, new Date(Date.now() + 180_000));
    expect(later).toEqual({ ok: false, reason: expect.stringMatching(/since \d{4}-.*Z: sessions wait/), count: 0 });
  });

  test('the pollers of a queue of activities alone are those of activities', async () => {
    const { connection, namespace } = server.environment;
    const queue = 'activities-alone';
    const seen = () =>
      readQueues(connection, { namespace: namespace ?? 'default', queues: [queue, 'without-workers'] });
    const stop = await startTestWorker(server.environment, {
      taskQueue: queue,
      activities: { work: async () => undefined },
    });
    const who = await eventually('the worker is seen', async () => {
      const [{ pollers } = { pollers: [] }] = await seen();
      return pollers.length > 0 && pollers;
    });
    expect(who.map(({ identity }) => identity)).toEqual(['worker@test']);
    expect(await seen()).toMatchObject([
      { name: queue, depth: 0 },
      { name: 'without-workers', pollers: [] },
    ]);
    await stop();
  });
});
