/** Plans whose templates nothing fills in, with their real driver: what nothing helps ends, what passes goes on. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createAttemptActivities, createPlanActivities } from '../../../activities/propagation/activities.ts';
import { pokedPlan } from '../../../control/propagation/wake-plans.ts';
import { tellOrThrow } from '../../../control/temporal/tell.ts';
import { hostQueueOf, MAIN_QUEUE } from '../../../domain/engine/task-queues.ts';
import { planWorkflowId } from '../../../domain/propagation/workflow-id.ts';
import { launcherMissing } from '../../support/ansible/local-runs.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { startTestWorker } from '../../support/stack/session-bench.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../../support/temporal/workflow-environment.ts';
import { type BreakableEvaluator, breakableEvaluator } from './breakable-evaluator.ts';
import { openShellPlans, type ShellBench } from './shell-bench.ts';

describeNeeding(temporalMissing() ?? launcherMissing(), 'a plan without an evaluator', () => {
  let server: TestServer;
  let dir: string;
  let broken: BreakableEvaluator;
  let shell: ShellBench;
  let stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    server = await openDevServer();
  });
  afterAll(() => server?.close());
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-lack-'));
    broken = breakableEvaluator(dir);
    shell = await openShellPlans({ instead: { evaluator: broken.evaluator }, startPauses: [100] });
    const { hostId } = shell;
    const attempts = createAttemptActivities({ ...shell.deps, hostId, attempts: shell.attemptRuns });
    stops = [
      await startTestWorker(server.environment, {
        taskQueue: MAIN_QUEUE,
        workflowBundle: await workflowBundle(),
        activities: { ...createPlanActivities(shell.deps), ...attempts },
      }),
      await startTestWorker(server.environment, { taskQueue: hostQueueOf(hostId), activities: { ...attempts } }),
    ];
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await broken.evaluator.stop();
    await shell.close();
    await rm(dir, { recursive: true, force: true });
  });

  const driven = async () => {
    const { id } = await shell.action('echo {{ action }}');
    await shell.start(id);
    await tellOrThrow(server.environment.client, pokedPlan(id));
    return { id, over: server.environment.client.workflow.getHandle(planWorkflowId(id)).result() };
  };

  test('ends by itself where its program is missing', async () => {
    const { id, over } = await driven();
    await over;
    expect((await shell.plan(id)).state).toBe('failed');
    expect(await shell.nodes(id)).toMatchObject([{ outcome: 'error', code: 'evaluator_failed', attempts: 1 }]);
  });

  test('goes on by itself when there is memory again, in the same attempt', async () => {
    await broken.starve();
    const { id, over } = await driven();
    await eventually('the reason', async () => {
      const [node] = await shell.nodes(id);
      return node?.reason?.includes('(evaluator_unavailable)') ?? false;
    });
    expect((await shell.plan(id)).state).toBe('running');
    await broken.mend();
    await over;
    expect((await shell.plan(id)).state).toBe('succeeded');
    expect(await shell.nodes(id)).toMatchObject([{ outcome: 'created', attempts: 1, reason: null }]);
  });
});
