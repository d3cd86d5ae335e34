/** The certificate is renewed by a schedule: on a real Temporal server, with fake activities. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { tellOrThrow } from '../../control/temporal/tell.ts';
import { wantedRenewal } from '../../control/trust/wanted-renewal.ts';
import { MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import { reconcileSchedules } from '../../worker/schedules.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { startTestWorker } from '../support/stack/session-bench.ts';
import { laneSchedules } from '../support/temporal/lane-schedules.ts';
import { temporalMissing } from '../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../support/temporal/workflow-environment.ts';

describeNeeding(temporalMissing(), 'the renewal of trust', () => {
  let server: TestServer;
  let stopWorker: () => Promise<void>;
  let asked = 0;
  beforeAll(async () => {
    server = await openDevServer();
    stopWorker = await startTestWorker(server.environment, {
      taskQueue: MAIN_QUEUE,
      workflowBundle: await workflowBundle(),
      activities: {
        renewTrust: async () => {
          asked += 1;
          if (asked === 1) throw new Error('Vault is sealed');
          return { validBefore: '2026-11-21T22:00:00.000Z', published: false };
        },
      },
    });
  });
  afterAll(async () => {
    await stopWorker?.();
    await server?.close();
  });

  test('happens each ten minutes and when a worker starts, is tried again, and says until when', async () => {
    const { client } = server.environment;
    await reconcileSchedules(client, laneSchedules());
    const schedule = client.schedule.getHandle('muster-trust');
    const { spec, policies } = await schedule.describe();
    expect(spec.intervals).toMatchObject([{ every: 600_000 }]);
    expect(policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 60_000 });

    await tellOrThrow(client, wantedRenewal());
    // The schedule may come due by itself meanwhile.
    await eventually('it was tried twice', () => asked >= 2);
    expect(await client.workflow.getHandle(wantedRenewal().workflowId).result()).toEqual({
      validBefore: '2026-11-21T22:00:00.000Z',
      published: false,
    });
  });
});
