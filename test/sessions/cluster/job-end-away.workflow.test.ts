/** A cluster that goes away while a Job ends of which all layers have succeeded. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { CLUSTER_HOST, hostQueueOf } from '../../../domain/engine/task-queues.ts';
import { admitted, gate, JOB_DONE } from '../../support/fakes/fake-session.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { benchOfBlock } from '../../support/stack/bench-of-block.ts';
import { testServerMissing } from '../../support/temporal/test-server.ts';
import { openTimeSkipping } from '../../support/temporal/workflow-environment.ts';

describeNeeding(testServerMissing(), 'the end of a Job whose cluster is away', () => {
  let stopCluster: () => Promise<void>;
  afterAll(() => stopCluster?.());
  const { bench } = benchOfBlock(openTimeSkipping);
  beforeAll(async () => {
    stopCluster = await bench.startMachine(hostQueueOf(CLUSTER_HOST));
  });

  test('is waited for: what it has reached counts', async () => {
    const finish = gate();
    let [ends, looks] = [0, 0];
    const away = (nextRetryDelay?: '15m') =>
      ApplicationFailure.create({
        type: 'cluster_unavailable',
        message: 'GET /api: no answer within 8 s',
        ...(nextRetryDelay === undefined ? { nonRetryable: true } : { nextRetryDelay }),
      });
    const session = await bench.start({
      admitSession: async () => admitted({ runner: 'kubernetes' }),
      finishJob: async () => finish.open(),
      // Time goes on by itself only while no activity is at work: this one comes back when the cluster does.
      watchJob: async () => {
        await finish.pass();
        looks += 1;
        if (looks === 1) throw away('15m');
        return JOB_DONE;
      },
      endJob: async () => {
        ends += 1;
        throw away();
      },
    });
    await session.result();
    expect([looks, ends]).toEqual([2, 1]);
    expect(session.fake.end()).toMatchObject({ succeeded: 'true' });
    await bench.finish();
    expect(await bench.replayAll()).toBe(1);
  });
});
