import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { CLUSTER_HOST, hostQueueOf } from '../../../domain/engine/task-queues.ts';
import { cancelSession, leasesFree, retrySession } from '../../../workflows/sessions/messages.ts';
import {
  admitted,
  endlessWork,
  gate,
  type JOB_DONE,
  JOB_ENDED,
  layerOutcome,
  type SessionActivities,
} from '../../support/fakes/fake-session.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { benchOfBlock } from '../../support/stack/bench-of-block.ts';
import type { SessionUnderTest } from '../../support/stack/session-bench.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer } from '../../support/temporal/workflow-environment.ts';

const BY_ALICE = { succeeded: 'false', message: 'cancelled by alice', reason: 'cancelled' };

const cancel = (session: SessionUnderTest) =>
  session.handle.executeUpdate(cancelSession, { args: [{ reason: 'cancelled by alice' }] });

describeNeeding(temporalMissing(), 'a session as a Job', () => {
  let stopCluster: () => Promise<void>;
  // Said first, since it needs the server that goes after it.
  afterAll(() => stopCluster?.());
  const { bench } = benchOfBlock(openDevServer);
  beforeAll(async () => {
    stopCluster = await bench.startMachine(hostQueueOf(CLUSTER_HOST));
  });

  const start = (instead: Partial<SessionActivities> = {}, plan = {}) =>
    bench.start({ admitSession: async () => admitted({ runner: 'kubernetes', ...plan }), ...instead });

  test('is prepared, started, given its layers, and waited for', async () => {
    const session = await start({}, { layers: [0, 2] });
    await session.result();
    // Followed beside all the rest.
    expect(session.fake.names()).toContain('watchJob');
    expect(session.fake.names().filter((name) => name !== 'watchJob')).toEqual([
      'admitSession',
      'prepareJob',
      'startJob',
      'runLayer',
      'recordLayer',
      'runLayer',
      'recordLayer',
      'finishJob',
      'recordEnd',
    ]);
    expect(session.fake.inputs('finishJob')).toEqual([{ exitCode: 0 }]);
    expect(session.fake.end()).toMatchObject({ succeeded: 'true', reason: null });
  });

  test.each([
    ['fails', 4, 4],
    ['is lost', null, 1],
  ])('a layer that %s ends the pod with its status, where it has one', async (_what, status, ordered) => {
    const session = await start({ runLayer: async ({ layer }) => layerOutcome(layer, status) }, { layers: [0, 1] });
    await session.result();
    expect(session.fake.inputs('runLayer')).toHaveLength(1);
    expect(session.fake.inputs('finishJob')).toEqual([{ exitCode: ordered }]);
    expect(session.fake.end()).toMatchObject({ reason: status === null ? 'run_lost' : 'layer_failed' });
  });

  test('waits for its components before there is a Job', async () => {
    let asked = 0;
    const session = await start({
      prepareJob: async () => ({ leases: true, drivesItself: false }),
      takeLeases: async () => {
        asked += 1;
        return asked === 1 ? { state: 'waiting', message: 'busy', retrySeconds: 3600 } : { state: 'taken' };
      },
    });
    await session.inPhase('lease');
    expect(session.fake.names()).not.toContain('startJob');
    await session.handle.signal(leasesFree);
    await session.result();
    expect(session.fake.end()).toMatchObject({ succeeded: 'true' });
  });

  test('a hold keeps the pod, and a retry is another order to it', async () => {
    const session = await start(
      { runLayer: async ({ layer, attempt }) => layerOutcome(layer, attempt > 1 ? 0 : 2) },
      { debugOnFailure: true },
    );
    await session.inPhase('hold');
    expect(session.fake.names()).not.toContain('finishJob');
    await session.handle.executeUpdate(retrySession, { args: [{ hosts: 'failed' }] });
    await session.result();
    expect(session.fake.inputs('runLayer')).toEqual([
      { layer: 0, attempt: 1, hosts: 'all' },
      { layer: 0, attempt: 2, hosts: 'failed' },
    ]);
    expect(session.fake.end()).toMatchObject({ succeeded: 'true' });
  });

  test('a hold ends with its Job: the layer has failed all the same', async () => {
    const job = gate();
    const session = await start(
      {
        runLayer: async ({ layer }) => layerOutcome(layer, 2),
        watchJob: async () => {
          await job.pass();
          return { succeeded: 'false', message: 'its Job was deleted', reason: 'job_deleted' };
        },
      },
      { debugOnFailure: true, debugWaitSeconds: 3600 },
    );
    await session.inPhase('hold');
    job.open();
    await session.result();
    expect(session.fake.inputs('runLayer')).toHaveLength(1);
    expect(session.fake.end()).toMatchObject({ succeeded: 'false', reason: 'layer_failed' });
  });

  test('cancelled while it is prepared: no Job is made', async () => {
    const work = endlessWork();
    const session = await start({ prepareJob: work.run });
    await work.begun;
    await cancel(session);
    await session.result();
    expect(session.fake.names()).toEqual(['admitSession', 'prepareJob', 'recordEnd']);
    expect(session.fake.end()).toEqual(BY_ALICE);
  });

  test('cancelled while it starts: what there is of the Job is ended', async () => {
    const work = endlessWork();
    const session = await start({ startJob: work.run });
    await work.begun;
    await cancel(session);
    await session.result();
    expect(session.fake.names()).toEqual(['admitSession', 'prepareJob', 'startJob', 'endJob', 'recordEnd']);
    expect(session.fake.end()).toEqual(BY_ALICE);
  });

  test('cancelled in a layer: the Job is ended, then the layer is recorded', async () => {
    const running = gate();
    const session = await start({
      runLayer: async ({ layer }) => {
        await running.pass();
        return layerOutcome(layer, null);
      },
      endJob: async () => {
        running.open();
        return { unverified: null };
      },
      watchJob: async () => {
        await running.pass();
        return JOB_ENDED;
      },
    });
    await running.reached;
    await cancel(session);
    await session.result();
    const names = session.fake.names();
    expect(names.indexOf('endJob')).toBeLessThan(names.indexOf('recordLayer'));
    expect(session.fake.end()).toEqual(BY_ALICE);
  });

  test('what cannot be verified is said', async () => {
    const running = gate();
    const session = await start({
      runLayer: async ({ layer }) => {
        await running.pass();
        return layerOutcome(layer, null);
      },
      endJob: async () => {
        running.open();
        return { unverified: 'node not ready' };
      },
    });
    await running.reached;
    await cancel(session);
    await session.result();
    expect(session.fake.end()).toEqual({ ...BY_ALICE, message: 'cancelled by alice; not verified: node not ready' });
  });

  test.each([
    ['is deleted', 'its Job was deleted', 'job_deleted', 'false'],
    ['vanishes with all it knew', 'its Job vanished before its result was read', 'job_lost', 'unknown'],
    ['loses the process of its playbook', 'nobody knows how it ended', 'run_lost', 'unknown'],
  ] as const)("a Job that %s in the middle ends it with the Job's reason", async (_, message, reason, succeeded) => {
    const session = await start({
      runLayer: async () => {
        throw ApplicationFailure.nonRetryable(message, reason);
      },
    });
    await session.result();
    expect(session.fake.names()).toContain('endJob');
    expect(session.fake.names()).not.toContain('recordLayer');
    expect(session.fake.end()).toEqual({ succeeded, message, reason });
  });

  test('layers that succeed in a Job that fails are no success', async () => {
    const end = {
      succeeded: 'false',
      message: 'container inventory ended with exit status 1',
      reason: 'runner_failed',
    };
    const finish = gate();
    const session = await start({
      finishJob: async () => finish.open(),
      watchJob: async () => {
        await finish.pass();
        return end as typeof JOB_DONE;
      },
    });
    await session.result();
    expect(session.fake.end()).toEqual(end);
  });

  test('a Job that has to be ended though nobody cancelled it is no cancel', async () => {
    const session = await start({ watchJob: async () => ({ ...JOB_ENDED, message: 'its Job was ended' }) });
    await session.result();
    expect(session.fake.end()).toEqual({
      succeeded: 'false',
      message: 'its pod did not end by itself: its Job was ended',
      reason: 'runner_failed',
    });
  });

  test('a pod that drives itself is only watched', async () => {
    const session = await start({
      prepareJob: async () => ({ leases: false, drivesItself: true }),
      watchJob: async () => ({ succeeded: 'false', message: 'container ansible ended with 4', reason: 'layer_failed' }),
    });
    await session.result();
    expect(session.fake.names()).toEqual(['admitSession', 'prepareJob', 'startJob', 'watchJob', 'recordEnd']);
    expect(session.fake.end()).toEqual({
      succeeded: 'false',
      message: 'container ansible ended with 4',
      reason: 'layer_failed',
    });
  });

  test.each([
    ['in a layer', false],
    ['while the pod runs its layers', true],
  ])('cancelled %s while the cluster does not answer: its end is waited for once', async (_when, drivesItself) => {
    const [job, layer] = [gate(), gate()];
    let ends = 0;
    const session = await start({
      prepareJob: async () => ({ leases: false, drivesItself }),
      watchJob: async () => {
        await job.pass();
        return JOB_ENDED;
      },
      runLayer: async ({ layer: index }) => {
        await layer.pass();
        return layerOutcome(index, null);
      },
      endJob: async () => {
        ends += 1;
        // As when its time is over.
        throw ApplicationFailure.nonRetryable('GET /api: no answer within 8 s', 'cluster_unavailable');
      },
    });
    await (drivesItself ? job : layer).reached;
    await cancel(session);
    await session.result();
    job.open();
    layer.open();
    expect(ends).toBe(1);
    expect(session.fake.end()).toEqual({
      ...BY_ALICE,
      message: 'cancelled by alice; not verified: the cluster does not answer',
    });
  });

  test('images are opened before the Job and finished before its end', async () => {
    const session = await start({}, { images: true });
    await session.result();
    const names = session.fake.names();
    const order = ['openImage', 'prepareJob', 'runLayer', 'finishImage', 'finishJob', 'releaseImages'] as const;
    expect(order.map((name) => names.indexOf(name))).toEqual(
      [...order].map((name) => names.indexOf(name)).sort((a, b) => a - b),
    );
    expect(names).toEqual(expect.arrayContaining([...order]));
    expect(session.fake.end()).toMatchObject({ succeeded: 'true' });
  });

  test('images of a pod that drives itself are judged by its exit code', async () => {
    const session = await start(
      { prepareJob: async () => ({ leases: false, drivesItself: true }), awaitPlaybooks: async () => 2 },
      { images: true },
    );
    await session.result();
    expect(session.fake.inputs('judgeImages')).toEqual([{ exitCode: 2 }]);
    expect(session.fake.inputs('finishJob')).toEqual([{ exitCode: 2 }]);
    expect(session.fake.end()).toMatchObject({ succeeded: 'false', reason: 'layer_failed' });
  });

  test('a Job that is deleted while its images are made is a cancel of those too', async () => {
    const [making, job] = [endlessWork(), gate()];
    const session = await start(
      {
        finishImage: () => making.run(),
        watchJob: async () => {
          await job.pass();
          return { succeeded: 'false', message: 'its Job was deleted', reason: 'job_deleted' };
        },
      },
      { images: true },
    );
    await making.begun;
    job.open();
    await session.result();
    expect(making.cancelled()).toBe(true);
    expect(session.fake.names()).not.toContain('finishJob');
    expect(session.fake.names()).toContain('releaseImages');
    expect(session.fake.end()).toEqual({ succeeded: 'false', message: 'its Job was deleted', reason: 'job_deleted' });
  });

  test('a Job that is deleted when its images are made changes nothing about what failed before', async () => {
    const finish = gate();
    const session = await start(
      {
        runLayer: async ({ layer }) => layerOutcome(layer, 2),
        finishJob: async () => finish.open(),
        watchJob: async () => {
          await finish.pass();
          return { succeeded: 'false', message: 'its Job was deleted', reason: 'job_deleted' };
        },
      },
      { images: true },
    );
    await session.result();
    expect(session.fake.names()).toContain('finishImage');
    expect(session.fake.end()).toMatchObject({ succeeded: 'false', reason: 'layer_failed' });
  });

  test('the histories of all these replay', async () => {
    await bench.finish();
    expect(await bench.replayAll()).toBeGreaterThan(10);
  });
});
