/** The batcher's workflow: when it makes passes, and what becomes of it. The passes themselves are fakes. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { BatcherActivities, PassAnswer } from '../../activities/batches/contract.ts';
import { withHeartbeat } from '../../activities/heartbeat.ts';
import { pokedBatcher, wantedBatcher } from '../../control/batches/wanted-batcher.ts';
import { tellOrThrow } from '../../control/temporal/tell.ts';
import { BATCHER_WORKFLOW_ID } from '../../domain/batches/workflow-id.ts';
import { MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import { reconcileSchedules } from '../../worker/schedules.ts';
import { pokeBatcher } from '../../workflows/batches/messages.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { replayHistories, startTestWorker } from '../support/stack/session-bench.ts';
import { laneSchedules } from '../support/temporal/lane-schedules.ts';
import { temporalMissing } from '../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../support/temporal/workflow-environment.ts';

const LONG = 3_600_000;
const answer = (given: Partial<PassAnswer> = {}): PassAnswer => ({
  waitMs: LONG,
  nextAt: Date.now() + (given.waitMs ?? LONG),
  restMs: 1,
  summary: 'nothing',
  ...given,
});

describeNeeding(temporalMissing(), 'the workflow of the batcher', () => {
  let server: TestServer;
  let stopWorker: () => Promise<void>;
  /** What each pass was asked, and the instant. */
  let passes: { poked: boolean; at: number }[] = [];
  let next: () => PassAnswer | Promise<PassAnswer> = answer;

  beforeAll(async () => {
    server = await openDevServer(['limit.historyCount.suggestContinueAsNew=100']);
    const activities: BatcherActivities = {
      runBatcherPass: ({ poked }) =>
        withHeartbeat(async () => {
          passes.push({ poked, at: Date.now() });
          return next();
        }),
      ensureBatcher: () => start(),
    };
    stopWorker = await startTestWorker(server.environment, {
      taskQueue: MAIN_QUEUE,
      workflowBundle: await workflowBundle(),
      activities: {
        ...activities,
        sweepSessions: async () => ({ hosts: [] }),
        expireSessions: async () => ({ deleted: 0 }),
      },
    });
  });
  afterEach(async () => {
    const handle = batcher();
    await handle.terminate('the test is over').catch(() => undefined);
    passes = [];
    next = answer;
  });
  afterAll(async () => {
    await stopWorker?.();
    await server?.close();
  });

  const batcher = (): WorkflowHandle => server.environment.client.workflow.getHandle(BATCHER_WORKFLOW_ID);
  const start = () => tellOrThrow(server.environment.client, wantedBatcher());
  const passed = (count: number) => eventually(`${count} passes`, () => passes.length >= count);
  const runId = async () => (await batcher().describe()).runId;

  test('makes a pass at its start, and the next at the instant that the pass named', async () => {
    const waits = [300, 700];
    next = () => answer({ waitMs: waits.shift() ?? LONG });
    await start();
    await passed(3);
    const [first, second, third] = passes;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(300);
    expect((third?.at ?? 0) - (second?.at ?? 0)).toBeGreaterThanOrEqual(700);
    expect(passes.every(({ poked }) => !poked)).toBe(true);
  });

  test('makes a pass at once when it is poked, and says so', async () => {
    await start();
    await passed(1);
    await batcher().signal(pokeBatcher);
    await passed(2);
    expect(passes.map(({ poked }) => poked)).toEqual([false, true]);
  });

  test('takes many pokes during a pass and its rest for one', async () => {
    const first = Promise.withResolvers<void>();
    next = async () => {
      if (passes.length === 1) await first.promise;
      return answer({ restMs: 200 });
    };
    await start();
    await passed(1);
    for (let poke = 0; poke < 5; poke += 1) await batcher().signal(pokeBatcher);
    first.resolve();
    await passed(2);
    await batcher().signal(pokeBatcher);
    await passed(3);
    expect(passes).toHaveLength(3);
  });

  test('goes on after a pass that failed', async () => {
    next = () => {
      if (passes.length === 1) throw new Error('the database is away');
      return answer();
    };
    await start();
    await passed(2);
    expect((await batcher().describe()).status.name).toBe('RUNNING');
  });

  test('continues as new before its history is long, and loses no poke', async () => {
    next = () => answer({ waitMs: passes.length < 12 ? 1 : LONG });
    await start();
    const first = await runId();
    await passed(12);
    await eventually('a new run', async () => (await runId()) !== first);
    const { historyLength } = await batcher().describe();
    expect(historyLength).toBeLessThan(200);
    const history = await server.environment.client.workflow.getHandle(BATCHER_WORKFLOW_ID, first).fetchHistory();
    expect(await replayHistories([{ workflowId: BATCHER_WORKFLOW_ID, history }])).toBe(1);
    const before = passes.length;
    await batcher().signal(pokeBatcher);
    await passed(before + 1);
  });

  test('runs once however often it is started, and again after it was ended from outside', async () => {
    await start();
    await passed(1);
    const first = await runId();
    await Promise.all([start(), start(), start()]);
    expect(await runId()).toBe(first);
    await batcher().terminate('by hand');
    await tellOrThrow(server.environment.client, pokedBatcher());
    await eventually('it runs again', async () => (await batcher().describe()).status.name === 'RUNNING');
    expect(await runId()).not.toBe(first);
  });

  test('is started by its schedule', async () => {
    const { client } = server.environment;
    await reconcileSchedules(client, laneSchedules());
    const schedule = client.schedule.getHandle('muster-batcher');
    const { spec, policies } = await schedule.describe();
    expect(spec.intervals).toMatchObject([{ every: 600_000 }]);
    expect(policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 60_000 });
    await schedule.trigger();
    await eventually('the batcher runs', async () => {
      const description = await batcher()
        .describe()
        .catch(() => null);
      return description?.status.name === 'RUNNING';
    });
    await schedule.delete();
  });

  test('shows the last pass in its details, and replays', async () => {
    next = () => answer({ summary: '3 components collected' });
    await start();
    await passed(1);
    await batcher().signal(pokeBatcher);
    await passed(2);
    const history = await batcher().fetchHistory();
    expect(await replayHistories([{ workflowId: BATCHER_WORKFLOW_ID, history }])).toBe(1);
  });
});
