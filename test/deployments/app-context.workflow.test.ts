/** The workflows of AppContexts against activities that say what they are told to. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ContextActivities, GroupAnswer, PhaseToRun } from '../../activities/deployments/contract.ts';
import { withHeartbeat } from '../../activities/heartbeat.ts';
import { clusterWorkflowId, contextWorkflowId } from '../../domain/deployments/workflow-id.ts';
import { lookAgain, wakeContext } from '../../workflows/deployments/messages.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { startTestWorker } from '../support/stack/session-bench.ts';
import { temporalMissing } from '../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../support/temporal/workflow-environment.ts';

const away = (waitMs: number): Extract<GroupAnswer, { is: 'away' }> => ({
  ...{ is: 'away', waitMs, reason: 'Unreachable', message: 'connect ECONNREFUSED', hasMoved: false, counts: true },
});
const onClusters = (phase: PhaseToRun['phase'], ...names: string[]): PhaseToRun => ({
  ...{ phase, parallel: 2 },
  clusters: names.map((cluster) => ({ cluster, apps: ['agent', 'store'] })),
});

describeNeeding(temporalMissing(), 'the work of an AppContext', () => {
  let server: TestServer;
  let number = 0;
  beforeAll(async () => {
    server = await openDevServer();
  });
  afterAll(() => server?.close());

  async function start(activities: Partial<ContextActivities>) {
    const context = String(++number);
    const taskQueue = `context-${context}`;
    const { environment } = server;
    const finished: string[] = [];
    const stop = await startTestWorker(environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: {
        finishPhase: async ({ phase }: { phase: string }) => void finished.push(phase),
        applyGroup: async () => ({ is: 'ended' }),
        deleteGroup: async () => ({ is: 'ended' }),
        ...activities,
      },
    });
    const workflowId = contextWorkflowId(context);
    const handle = await environment.client.workflow.start('appContextWorkflow', {
      ...{ workflowId, taskQueue, args: [{ context }] },
    });
    return { context, handle, finished, stop };
  }

  test('runs one phase after the other as long as one is wanted, and ends', async () => {
    const phases: (PhaseToRun | null)[] = [
      onClusters('apply', 'lab+north', 'lab+south'),
      onClusters('delete', 'lab+north'),
      null,
    ];
    const groups: string[] = [];
    const { handle, finished, stop } = await start({
      beginPhase: async () => phases.shift() ?? null,
      applyGroup: async ({ cluster, app }) => {
        groups.push(`${cluster} ${app}`);
        return { is: 'ended' };
      },
    });
    await handle.result();
    expect(finished).toEqual(['apply', 'delete']);
    expect(groups.sort()).toEqual(['lab+north agent', 'lab+north store', 'lab+south agent', 'lab+south store']);
    await stop();
  });

  const detailsOf = async (workflowId: string): Promise<string> => {
    const handle = server.environment.client.workflow.getHandle(workflowId);
    const { currentDetails } = (await handle.query('__temporal_workflow_metadata')) as { currentDetails?: string };
    return currentDetails ?? '';
  };

  test('shows what each cluster does or waits for, and nothing once it has ended', async () => {
    const phases: (PhaseToRun | null)[] = [{ ...onClusters('apply', 'lab+a', 'lab+b', 'lab+c'), parallel: 1 }];
    const leave = Promise.withResolvers<void>();
    const calls: string[] = [];
    const { context, handle, stop } = await start({
      beginPhase: async () => phases.shift() ?? null,
      applyGroup: async ({ cluster, app }) => {
        calls.push(`${cluster} ${app}`);
        if (cluster !== 'lab+a') return { is: 'ended' };
        if (app === 'agent' && calls.filter((call) => call === 'lab+a agent').length === 1) return away(3_600_000);
        await withHeartbeat(() => leave.promise);
        return { is: 'ended' };
      },
    });
    const onA = clusterWorkflowId(context, 'apply', 'lab+a');
    await eventually('both are at work', () => calls.includes('lab+a agent') && calls.includes('lab+a store'));
    await eventually('agent waits', async () => (await detailsOf(onA)).includes('agent waits'));
    expect((await detailsOf(onA)).split('\n\n').sort()).toEqual([
      'agent waits for lab+a: Unreachable connect ECONNREFUSED',
      'store is at work on lab+a',
    ]);
    const whole = contextWorkflowId(context);
    expect(await detailsOf(whole)).toBe('apply: 3 clusters\n\nwait for a first place: lab+b, lab+c');
    await server.environment.client.workflow.getHandle(onA).signal(lookAgain);
    await eventually('agent is tried again', async () => calls.filter((call) => call === 'lab+a agent').length === 2);
    expect(await detailsOf(onA)).toContain('agent is tried again on lab+a');
    leave.resolve();
    await handle.result();
    expect([await detailsOf(onA), await detailsOf(whole)]).toEqual(['', '']);
    await stop();
  });

  test('gives the place of a cluster that is away to another', async () => {
    const phases: (PhaseToRun | null)[] = [{ ...onClusters('apply', 'lab+a', 'lab+b', 'lab+c'), parallel: 1 }];
    const reached: string[] = [];
    const { context, handle, stop } = await start({
      beginPhase: async () => phases.shift() ?? null,
      applyGroup: async ({ cluster, app }) => {
        reached.push(`${cluster} ${app}`);
        return cluster !== 'lab+a' || reached.includes('lab+c store') ? { is: 'ended' } : away(3_600_000);
      },
    });
    await eventually('the others are done', () => reached.includes('lab+c store'));
    await server.environment.client.workflow.getHandle(contextWorkflowId(context)).signal(wakeContext);
    await handle.result();
    await stop();
  });

  test('lets a cluster that is back work only when it has a place again', async () => {
    const phases: (PhaseToRun | null)[] = [{ ...onClusters('apply', 'lab+a', 'lab+b'), parallel: 1 }];
    const leave = Promise.withResolvers<void>();
    const seen: string[] = [];
    /** Clusters at work with a place. */
    const inside = new Set<string>();
    let most = 0;
    const back: GroupAnswer = { ...away(60_000), reason: 'Waiting', counts: false, isBack: true };
    const { context, handle, stop } = await start({
      beginPhase: async () => phases.shift() ?? null,
      applyGroup: async ({ cluster, app, hasPlace }) => {
        if (app === 'store') return { is: 'ended' };
        const isFirst = seen.every((entry) => !entry.startsWith(cluster));
        seen.push(`${cluster} ${hasPlace === false ? 'asked' : 'at work'}`);
        if (cluster === 'lab+a' && isFirst) return away(3_600_000);
        if (hasPlace === false) return back;
        inside.add(cluster);
        most = Math.max(most, inside.size);
        if (cluster === 'lab+b') await withHeartbeat(() => leave.promise);
        inside.delete(cluster);
        return { is: 'ended' };
      },
    });
    await eventually('b has the place of a', () => seen.includes('lab+b at work'));
    const child = server.environment.client.workflow.getHandle(clusterWorkflowId(context, 'apply', 'lab+a'));
    await child.signal(lookAgain);
    await eventually('a is back', () => seen.includes('lab+a asked'));
    const whole = contextWorkflowId(context);
    await eventually('a has asked', async () => (await detailsOf(whole)).includes('wait for a place: lab+a'));
    expect(seen).toEqual(['lab+a at work', 'lab+b at work', 'lab+a asked']);
    leave.resolve();
    await handle.result();
    expect([seen.at(-1), most]).toEqual(['lab+a at work', 1]);
    await stop();
  });

  test('ends a cluster that waits for a place when the phase is given up', async () => {
    const phases: (PhaseToRun | null)[] = [{ ...onClusters('apply', 'lab+a', 'lab+b'), parallel: 1 }];
    const leave = Promise.withResolvers<void>();
    const calls = new Map<string, number>();
    let isStopped = false;
    const { context, handle, finished, stop } = await start({
      beginPhase: async () => phases.shift() ?? null,
      applyGroup: async ({ cluster, hasPlace }) => {
        calls.set(cluster, (calls.get(cluster) ?? 0) + 1);
        if (isStopped) return { is: 'ended' };
        if (cluster === 'lab+a') {
          return hasPlace === false ? { ...away(60_000), counts: false, isBack: true } : away(3_600_000);
        }
        await withHeartbeat(() => leave.promise);
        return { is: 'ended' };
      },
    });
    await eventually('b has the place of a', () => (calls.get('lab+b') ?? 0) === 2);
    const child = server.environment.client.workflow.getHandle(clusterWorkflowId(context, 'apply', 'lab+a'));
    await child.signal(lookAgain);
    await eventually('a waits for its turn', () => (calls.get('lab+a') ?? 0) === 4);
    isStopped = true;
    await handle.signal(wakeContext);
    await child.result();
    leave.resolve();
    await handle.result();
    expect(finished).toEqual(['apply']);
    await stop();
  });

  test('waits for a cluster that is away, counts the waits, and goes on when it hears of it', async () => {
    const waits: number[] = [];
    const phases: (PhaseToRun | null)[] = [onClusters('apply', 'lab+north')];
    const { context, handle, finished, stop } = await start({
      beginPhase: async () => phases.shift() ?? null,
      applyGroup: async ({ app, waits: passed }) => {
        if (app === 'store') return { is: 'ended' };
        waits.push(passed);
        return waits.length === 1 ? away(10) : waits.length === 2 ? away(3_600_000) : { is: 'ended' };
      },
    });
    await eventually('it waits', () => waits.length === 2);
    const child = server.environment.client.workflow.getHandle(clusterWorkflowId(context, 'apply', 'lab+north'));
    await child.signal(lookAgain);
    await handle.result();
    expect([waits, finished]).toEqual([[0, 1, 2], ['apply']]);
    await stop();
  });

  test('hands a wake on to what waits: it is stopped at once', async () => {
    let isStopped = false;
    let asked = 0;
    const phases: (PhaseToRun | null)[] = [onClusters('apply', 'lab+north')];
    const { handle, finished, stop } = await start({
      beginPhase: async () => phases.shift() ?? null,
      applyGroup: async () => {
        asked += 1;
        return isStopped ? { is: 'ended' } : away(3_600_000);
      },
    });
    await eventually('both groups wait', () => asked === 2);
    isStopped = true;
    await handle.signal(wakeContext);
    await handle.result();
    expect([asked, finished]).toEqual([4, ['apply']]);
    await stop();
  });

  test('begins the work on a cluster again that was terminated', async () => {
    let asked = 0;
    const phases: (PhaseToRun | null)[] = [onClusters('apply', 'lab+north')];
    const { context, handle, finished, stop } = await start({
      beginPhase: async () => phases.shift() ?? null,
      applyGroup: async () => (++asked <= 2 ? away(3_600_000) : { is: 'ended' }),
    });
    await eventually('it waits', () => asked === 2);
    await server.environment.client.workflow
      .getHandle(clusterWorkflowId(context, 'apply', 'lab+north'))
      .terminate('by a test');
    await handle.result();
    expect([asked, finished]).toEqual([4, ['apply']]);
    await stop();
  });

  test('does groups on the queue that the phase names, and begins them again when no worker has taken them there', async () => {
    // Work for a queue of this name is given up in seconds.
    const queue = 'context-groups-away';
    const done = new Set<string>();
    const phases: (PhaseToRun | null)[] = [{ ...onClusters('apply', 'lab+north'), queue }];
    const { context, handle, finished, stop } = await start({
      beginPhase: async () => phases.shift() ?? null,
      applyGroup: async () => {
        throw new Error('on the queue of the workflow');
      },
    });
    const { client } = server.environment;
    const child = client.workflow.getHandle(clusterWorkflowId(context, 'apply', 'lab+north'));
    const hasFailed = async () => (await child.describe().catch(() => null))?.status.name === 'FAILED';
    await eventually('no worker has taken it', hasFailed, 60_000);
    const stopOwn = await startTestWorker(server.environment, {
      taskQueue: queue,
      activities: {
        applyGroup: async ({ app }: { app: string }) => {
          done.add(app);
          return { is: 'ended' };
        },
      },
    });
    await handle.result();
    expect([[...done].sort(), finished]).toEqual([['agent', 'store'], ['apply']]);
    await stop();
    await stopOwn();
  }, 150_000);

  test('continues as new with the groups that wait', async () => {
    let asked = 0;
    const taskQueue = 'context-long';
    const { environment } = server;
    const stop = await startTestWorker(environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: {
        applyGroup: async ({ waits }: { waits: number }) => (++asked > 20 && waits >= 20 ? { is: 'ended' } : away(1)),
      },
    });
    const apps = [{ app: 'agent', waits: 0 }];
    const args = [{ context: '99', phase: 'apply', cluster: 'lab+north', apps, maxEvents: 40 }];
    const handle = await environment.client.workflow.start('clusterGroupsWorkflow', {
      ...{ workflowId: clusterWorkflowId('99', 'apply', 'lab+north'), taskQueue, args },
    });
    await handle.result();
    expect(asked).toBe(21);
    await stop();
  });
});
