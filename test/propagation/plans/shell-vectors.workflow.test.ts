/** Worked plans by real shell actions and the real driver: each action starts once, and statuses are those of the simulation. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createAttemptActivities, createPlanActivities } from '../../../activities/propagation/activities.ts';
import { pokedPlan } from '../../../control/propagation/wake-plans.ts';
import { tellOrThrow } from '../../../control/temporal/tell.ts';
import { hostQueueOf, MAIN_QUEUE } from '../../../domain/engine/task-queues.ts';
import { simulate } from '../../../domain/propagation/simulate.ts';
import { planWorkflowId } from '../../../domain/propagation/workflow-id.ts';
import { launcherMissing } from '../../support/ansible/local-runs.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { startTestWorker } from '../../support/stack/session-bench.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../../support/temporal/workflow-environment.ts';
import { LOOP_VECTORS } from '../rules/loop-vectors.ts';
import { PLAIN_VECTORS } from '../rules/vectors.ts';
import { openShellPlans, type ShellBench } from './shell-bench.ts';

/** Of each plan the row in which all goes well, and the first with a failure. */
const ROWS = [...PLAIN_VECTORS, ...LOOP_VECTORS].flatMap((vector) => {
  const [first, ...more] = vector.runs;
  const failing = more.find(({ outcomes }) => Object.values(outcomes).includes('failed'));
  return [first, failing].flatMap((row) => (row === undefined ? [] : [{ ...row, vector, name: vector.name }]));
});

describeNeeding(temporalMissing() ?? launcherMissing(), 'by shell', () => {
  let server: TestServer;
  let shell: ShellBench;
  let stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    server = await openDevServer();
  });
  afterAll(() => server?.close());
  beforeEach(async () => {
    shell = await openShellPlans();
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
    await shell.close();
  });

  test.each(ROWS)('$name, with $outcomes', async ({ vector, outcomes, statuses, result }) => {
    await shell.stageScripts(vector, outcomes);
    const { id } = await shell.process();
    await shell.start(id);
    const { client } = server.environment;
    await tellOrThrow(client, pokedPlan(id));
    await client.workflow.getHandle(planWorkflowId(id)).result();
    expect((await shell.plan(id)).state).toBe(result);
    const actions = Object.fromEntries((vector.fixed ?? []).map((node) => [node, { repeatable: false }]));
    const { run } = simulate({ staged: vector.staged, events: vector.events, actions, outcomes });
    expect(await shell.statuses(id)).toEqual(run.statuses);
    expect(await shell.statuses(id)).toMatchObject(statuses);
    const ran = Object.entries(run.attempts).filter(([, count]) => count > 0);
    expect((await shell.journal()).sort()).toEqual(ran.map(([node]) => `${node} 1`).sort());
  });
});
