/** Brings sessions to their ends. */
import { ApplicationFailure } from '@temporalio/common';
import { CLUSTER_HOST, hostQueueOf } from '../../../../domain/engine/task-queues.ts';
import {
  cancelSession,
  finishDebug,
  leasesFree,
  retrySession,
  slotFree,
} from '../../../../workflows/sessions/messages.ts';
import {
  admitted,
  endlessRuns,
  endlessWork,
  gate,
  layerOutcome,
  type SessionActivities,
  waiting,
} from '../../fakes/fake-session.ts';
import type { SessionBench, SessionUnderTest } from '../../stack/session-bench.ts';
import type { Histories } from './recorded.ts';

/** Each brings a session to its end in its own way. */
const SESSIONS: Record<string, (bench: SessionBench) => Promise<SessionUnderTest>> = {
  'session-done': async (bench) => ended(bench, { admitSession: async () => admitted({ layers: [0, 1, 2] }) }),

  'session-no-layer': async (bench) => ended(bench, { admitSession: async () => admitted({ layers: [] }) }),

  'session-layer-failed': async (bench) =>
    ended(bench, {
      admitSession: async () => admitted({ layers: [0, 1], timeoutSeconds: 600 }),
      runLayer: async ({ layer }) => layerOutcome(layer, 2),
    }),

  'session-run-lost': async (bench) => ended(bench, { runLayer: async ({ layer }) => layerOutcome(layer, null) }),

  'session-clone-failed': async (bench) =>
    ended(bench, {
      cloneLayers: async () => {
        throw ApplicationFailure.nonRetryable('layer 0: no commit abc', 'commit_not_found');
      },
    }),

  'session-queued': async (bench) => {
    let asked = 0;
    const session = await bench.start({
      admitSession: async () => {
        asked += 1;
        return asked < 3 ? waiting(asked === 1 ? 1 : 3600) : admitted();
      },
    });
    while (asked < 2) await session.progress();
    await session.inLine();
    await session.handle.signal(slotFree);
    return finished(session);
  },

  'session-waited-for-components': async (bench) => {
    let asked = 0;
    const session = await bench.start({
      writeInventory: async () => ({ leases: true }),
      takeLeases: async () => {
        asked += 1;
        return asked < 3
          ? { state: 'waiting', message: 'busy', retrySeconds: asked === 1 ? 1 : 3600 }
          : { state: 'taken' };
      },
    });
    while (asked < 2) await session.progress();
    await session.inPhase('lease');
    await session.handle.signal(leasesFree);
    return finished(session);
  },

  'session-cancelled-in-line': async (bench) => {
    const session = await bench.start({ admitSession: async () => waiting(3600) });
    await session.inLine();
    await cancel(session);
    return finished(session);
  },

  'session-cancelled-in-run': async (bench) => {
    const runs = endlessRuns();
    const session = await bench.start(runs);
    await runs.begun;
    await cancel(session);
    return finished(session);
  },

  'session-cancelled-in-temporal': async (bench) => {
    const runs = endlessRuns();
    const session = await bench.start(runs);
    await runs.begun;
    await session.handle.cancel();
    return finished(session);
  },

  'session-retried-and-finished': async (bench) => {
    const session = await bench.start({
      admitSession: async () => admitted({ layers: [0, 1], debugOnFailure: true }),
      runLayer: async ({ layer, attempt }) => layerOutcome(layer, layer === 0 && attempt > 1 ? 0 : 2),
    });
    await session.inPhase('hold');
    await session.handle.executeUpdate(retrySession, { args: [{ hosts: 'failed' }] });
    while ((await session.inPhase('hold')).layer !== 1);
    await session.handle.executeUpdate(finishDebug);
    return finished(session);
  },

  'session-checked': async (bench) =>
    ended(bench, {
      admitSession: async () => admitted({ layers: [0, 1], check: true }),
      runLayer: async ({ layer }) => layerOutcome(layer, layer === 0 ? 2 : 0),
      recordLayer: async ({ layer }) => ({ hosts: 3, drifted: layer, unclear: 1 }),
    }),

  'session-job-done': async (bench) =>
    onCluster(bench, () =>
      ended(bench, { admitSession: async () => admitted({ runner: 'kubernetes', layers: [0, 1] }) }),
    ),

  'session-job-deleted': async (bench) =>
    onCluster(bench, () =>
      ended(bench, {
        admitSession: async () => admitted({ runner: 'kubernetes' }),
        runLayer: async () => {
          throw ApplicationFailure.nonRetryable('its Job was deleted', 'job_deleted');
        },
      }),
    ),

  'session-job-not-ended': async (bench) =>
    onCluster(bench, async () => {
      const work = endlessWork();
      const session = await bench.start({
        admitSession: async () => admitted({ runner: 'kubernetes' }),
        runLayer: work.run,
        endJob: async () => {
          throw ApplicationFailure.nonRetryable('GET /api: no answer within 8 s', 'cluster_unavailable');
        },
      });
      await work.begun;
      await cancel(session);
      return finished(session);
    }),

  'session-job-by-itself': async (bench) =>
    onCluster(bench, () =>
      ended(bench, {
        admitSession: async () => admitted({ runner: 'kubernetes', images: true }),
        prepareJob: async () => ({ leases: false, drivesItself: true }),
      }),
    ),

  'session-on-images': async (bench) => {
    const tries = new Map<string, number>();
    const notYet = async ({ image }: { image: string }) => {
      const count = (tries.get(image) ?? 0) + 1;
      tries.set(image, count);
      if (count === 1) {
        throw ApplicationFailure.create({ type: 'image_not_ready', message: 'creating', nextRetryDelay: '10ms' });
      }
    };
    return ended(bench, { admitSession: async () => admitted({ images: true, layers: [0, 1] }), openImage: notYet });
  },

  'session-image-not-opened': async (bench) =>
    ended(bench, {
      admitSession: async () => admitted({ images: true }),
      openImage: async ({ image }) => {
        throw ApplicationFailure.nonRetryable(`image ${image}: its job ended in error`, 'image_job_failed');
      },
    }),

  'session-images-cancelled-in-run': async (bench) => {
    const { begun, ...runs } = endlessRuns();
    const session = await bench.start({ admitSession: async () => admitted({ images: true }), ...runs });
    await begun;
    await cancel(session);
    return finished(session);
  },

  'session-images-as-job': async (bench) =>
    onCluster(bench, () =>
      ended(bench, { admitSession: async () => admitted({ runner: 'kubernetes', images: true }) }),
    ),

  'session-hold-over': async (bench) =>
    ended(bench, {
      admitSession: async () => admitted({ debugOnFailure: true, debugWaitSeconds: 1 }),
      runLayer: async ({ layer }) => layerOutcome(layer, 2),
    }),

  'session-told-while-recording': async (bench) => {
    const recording = gate();
    const session = await bench.start(
      {
        admitSession: async () => admitted({ debugOnFailure: true }),
        runLayer: async ({ layer }) => layerOutcome(layer, 2),
        recordHold: () => recording.pass(),
      },
      { workflowTaskTimeout: 1_000 },
    );
    await recording.reached;
    await session.handle.executeUpdate(finishDebug);
    recording.open();
    return finished(session);
  },

  'session-closed-succeeded': async (bench) =>
    ended(bench, {
      admitSession: async () => admitted({ playbooks: ['site.yml'] }),
      writeInventory: async () => ({ leases: false, aim: 'n001,n002 (2 hosts)' }),
    }),

  'session-closed-failed': async (bench) => ended(bench, { runLayer: async ({ layer }) => layerOutcome(layer, 2) }),

  'session-closed-cancelled': async (bench) => {
    const runs = endlessRuns();
    const session = await bench.start(runs);
    await runs.begun;
    await cancel(session);
    return finished(session);
  },

  'session-closed-cancelled-in-temporal': async (bench) => {
    const runs = endlessRuns();
    const session = await bench.start(runs);
    await runs.begun;
    await session.handle.cancel();
    return finished(session);
  },
};

/** With a worker that has a cluster. */
async function onCluster(bench: SessionBench, run: () => Promise<SessionUnderTest>): Promise<SessionUnderTest> {
  const stop = await bench.startMachine(hostQueueOf(CLUSTER_HOST));
  const session = await run();
  await stop();
  return session;
}

const ended = async (bench: SessionBench, instead: Partial<SessionActivities>) => finished(await bench.start(instead));

async function finished(session: SessionUnderTest): Promise<SessionUnderTest> {
  await session.result();
  return session;
}

const cancel = (session: SessionUnderTest) =>
  session.handle.executeUpdate(cancelSession, { args: [{ reason: 'cancelled by alice' }] });

export const SESSION_HISTORIES: Histories = Object.fromEntries(
  Object.entries(SESSIONS).map(([name, run]) => [name, async (_server, bench) => (await run(bench)).handle.workflowId]),
);
