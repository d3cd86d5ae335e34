/** Apps that wait for each other, with Temporal, the real activities and clusters in memory. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createContextActivities } from '../../activities/deployments/activities.ts';
import { wakeWaiting } from '../../control/deployments/wake-waiting.ts';
import { clusterWorkflowId, contextWorkflowId } from '../../domain/deployments/workflow-id.ts';
import { describeNeeding } from '../support/requirement.ts';
import { startTestWorker } from '../support/stack/session-bench.ts';
import { temporalMissing } from '../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../support/temporal/workflow-environment.ts';
import { refusal } from './fake-member.ts';
import { orderBenchOfBlock, TWO } from './order-bench.ts';

describeNeeding(temporalMissing(), 'an app that waits for another', () => {
  const { bench, members, changes, counts, instantiated } = orderBenchOfBlock('t');
  let server: TestServer;
  beforeAll(async () => {
    server = await openDevServer();
  });
  afterAll(() => server?.close());

  /** Does what is wanted of an AppContext. `parallel`: clusters at work at once. */
  async function run(context: string, parallel: number): Promise<void> {
    const { client } = server.environment;
    const taskQueue = `order-${context}`;
    const log = { warn: (_: object, message: string) => expect(message).toBe('') };
    const stop = await startTestWorker(server.environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: {
        ...createContextActivities({
          ...bench.deps,
          wake: (waiting) => wakeWaiting({ client, log }, waiting),
          parallel,
        }),
      },
    });
    const workflowId = contextWorkflowId(context);
    const handle = await client.workflow.start('appContextWorkflow', { workflowId, taskQueue, args: [{ context }] });
    await handle.result();
    await stop();
  }

  /** Returns by what the last wait on a cluster ended: a word, its time, or that there was none. On a busy machine a word may come behind a time. */
  async function lastWait(
    context: string,
    phase: 'apply' | 'delete',
    cluster: string,
  ): Promise<'word' | 'time' | 'none'> {
    const handle = server.environment.client.workflow.getHandle(clusterWorkflowId(context, phase, cluster));
    const { events } = await handle.fetchHistory();
    const last = events?.findLast((event) => event.timerFiredEventAttributes ?? event.timerCanceledEventAttributes);
    if (last === undefined) return 'none';
    return last.timerCanceledEventAttributes ? 'word' : 'time';
  }

  test.each([1, 50])('begins when it is told, and goes off before it; %d clusters at once', async (parallel) => {
    const context = await instantiated(TWO);
    await run(context.id, parallel);
    expect(await bench.status(context)).toEqual({ status: 'Instantiated', Applied: 10 });
    const firstOf = (what: RegExp) => changes.findIndex((change) => what.test(change));
    const lastOf = (what: RegExp) => changes.findLastIndex((change) => what.test(change));
    expect(firstOf(/store/)).toBeGreaterThan(lastOf(/agent|cfg/));
    await bench.post(`${context.group}/terminate`);
    await run(context.id, parallel);
    expect(await bench.status(context)).toEqual({ status: 'Terminated', Deleted: 10 });
    expect(firstOf(/delete .*(agent|cfg)/)).toBeGreaterThan(lastOf(/delete .*store/));
    for (const phase of ['apply', 'delete'] as const) {
      for (const cluster of ['north', 'south']) {
        expect(await lastWait(context.id, phase, `${context.provider}+${cluster}`)).not.toBe('time');
      }
    }
  });

  test('is told that it failed on another cluster', async () => {
    const context = await instantiated(TWO);
    members.south.fault = (call, path) =>
      call === 'apply' && path.includes('services') ? refusal(422, 'Invalid') : undefined;
    await run(context.id, 1);
    expect(await bench.status(context)).toEqual({ status: 'InstantiateFailed', Applied: 4, Failed: 1, Pending: 5 });
    expect(await counts(context)).toMatchObject({ 'store north Pending DependencyFailed': 2 });
    expect(await lastWait(context.id, 'apply', `${context.provider}+north`)).toBe('word');
  });
});
