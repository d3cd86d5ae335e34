/**
 * Records the histories that every later version of the workflows must be able to replay, one for each path, into
 * test/histories: those that are named, else all. They are recorded anew only in a change that means to break with
 * running workflows:
 *
 *     node bootstrap/run.mjs exec node test/support/temporal/record-histories.ts [NAME...]
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { CLUSTER_HOST, hostQueueOf } from '../../../domain/engine/task-queues.ts';
import { pokeBatcher } from '../../../workflows/batches/messages.ts';
import {
  cancelSession,
  finishDebug,
  leasesFree,
  retrySession,
  slotFree,
} from '../../../workflows/sessions/messages.ts';
import {
  admitted,
  endlessRuns,
  endlessWork,
  gate,
  layerOutcome,
  type SessionActivities,
  waiting,
} from '../fakes/fake-session.ts';
import { openSessionBench, type SessionBench, type SessionUnderTest, startTestWorker } from '../stack/session-bench.ts';
import { writeHistory } from './history-files.ts';
import { IMAGE_HISTORIES } from './image-histories.ts';
import { LANE_HISTORIES } from './lane-histories.ts';
import { openDevServer, type TestServer, workflowBundle } from './workflow-environment.ts';

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

/** A sweep with one machine that cleans up and one that cannot. */
async function sweep({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-sweep';
  const stops = [
    await startTestWorker(environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: { sweepSessions: async () => ({ hosts: ['a', 'b'] }) },
    }),
    await startTestWorker(environment, {
      taskQueue: hostQueueOf('a'),
      activities: { cleanHost: async () => undefined },
    }),
    await startTestWorker(environment, {
      taskQueue: hostQueueOf('b'),
      activities: {
        cleanHost: async () => {
          throw ApplicationFailure.nonRetryable('read-only file system', 'internal');
        },
      },
    }),
  ];
  const handle = await environment.client.workflow.start('sweepWorkflow', { workflowId: 'sweep', taskQueue, args: [] });
  await handle.result();
  await Promise.all(stops.map((stop) => stop()));
  return handle.workflowId;
}

/** A sweep with a machine that does not answer. */
async function sweepAway({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-sweep-away';
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: { sweepSessions: async () => ({ hosts: ['gone'] }), noteMachineAway: async () => undefined },
  });
  const start = { workflowId: 'sweep-away', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('sweepWorkflow', start);
  await handle.result();
  await stop();
  return handle.workflowId;
}

/** The deletion of old sessions. */
async function expiry({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-session-ttl';
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: { expireSessions: async () => ({ deleted: 3 }) },
  });
  const start = { workflowId: 'session-ttl', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('expireSessionsWorkflow', start);
  await handle.result();
  await stop();
  return handle.workflowId;
}

/** The batcher: a pass, one by its timer, one by a poke, one that fails. */
async function batcher({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-batcher';
  let passes = 0;
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: {
      runBatcherPass: async () => {
        passes += 1;
        if (passes === 4) throw ApplicationFailure.nonRetryable('the database is away', 'internal');
        const waitMs = passes === 1 || passes === 3 ? 100 : 3_600_000;
        return { waitMs, nextAt: Date.now() + waitMs, restMs: 10, summary: `pass ${passes}` };
      },
    },
  });
  const start = { workflowId: 'batcher', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('batcherWorkflow', start);
  while (passes < 2) await delay(50);
  await handle.signal(pokeBatcher);
  while (passes < 5) await delay(50);
  await handle.terminate('recorded');
  await stop();
  return handle.workflowId;
}

/** The start of the batcher by its schedule. */
async function ensureBatcher({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-ensure-batcher';
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: { ensureBatcher: async () => undefined },
  });
  const start = { workflowId: 'ensure-batcher', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('ensureBatcherWorkflow', start);
  await handle.result();
  await stop();
  return handle.workflowId;
}

/** The renewal of what sessions show to hosts. */
async function trust({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-trust';
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: { renewTrust: async () => ({ validBefore: '2026-11-21T22:00:00.000Z', published: true }) },
  });
  const start = { workflowId: 'trust', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('renewTrustWorkflow', start);
  await handle.result();
  await stop();
  return handle.workflowId;
}

/** The hardware sync: two passes, one that is broken off, and the end where no hardware manager is set any more. */
async function hardwareSync({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-hardware-sync';
  let passes = 0;
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: {
      syncHardware: async () => {
        passes += 1;
        if (passes === 2) throw ApplicationFailure.nonRetryable('the database is away', 'internal');
        return passes === 4 ? null : { waitMs: 100, summary: `pass ${passes}` };
      },
    },
  });
  const start = { workflowId: 'hardware-sync', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('hardwareSyncWorkflow', start);
  await handle.result();
  await stop();
  return handle.workflowId;
}

/** The start of the hardware sync by its schedule. */
async function ensureHardwareSync({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-ensure-hardware-sync';
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: { ensureHardwareSync: async () => undefined },
  });
  const start = { workflowId: 'ensure-hardware-sync', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('ensureHardwareSyncWorkflow', start);
  await handle.result();
  await stop();
  return handle.workflowId;
}

/** The run of a schedule, each in its own way: done at once, with sessions, failed, cancelled while it waits. */
const SCHEDULE_RUNS: Record<string, { perform: () => Promise<string>; looks: number; cancel?: true }> = {
  'schedule-run-done': { perform: async () => 'over', looks: 0 },
  'schedule-run-followed': { perform: async () => 'following', looks: 2 },
  'schedule-run-failed': {
    perform: async () => {
      throw ApplicationFailure.nonRetryable('there is no configuration web', 'configuration_invalid');
    },
    looks: 0,
  },
  'schedule-run-cancelled': { perform: async () => 'following', looks: Number.POSITIVE_INFINITY, cancel: true },
};

async function scheduleRun(name: string, { environment }: TestServer): Promise<string> {
  const way = SCHEDULE_RUNS[name];
  const taskQueue = `test-${name}`;
  let looks = 0;
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: {
      beginScheduleRun: async () => ({ runId: 'run' }),
      performScheduleRun: way?.perform,
      followScheduleRun: async () => ++looks >= (way?.looks ?? 0),
      failScheduleRun: async () => undefined,
      cancelScheduleRun: async () => undefined,
    },
  });
  const start = { workflowId: name, taskQueue, args: [{ scheduleId: 'schedule' }] };
  const handle = await environment.client.workflow.start('scheduleRunWorkflow', start);
  if (way?.cancel) {
    while (looks < 1) await delay(50);
    await handle.cancel();
    await handle.result().catch(() => undefined);
  } else await handle.result();
  await stop();
  return handle.workflowId;
}

async function record(name: string, { environment }: TestServer, workflowId: string): Promise<void> {
  const history = await environment.client.workflow.getHandle(workflowId).fetchHistory();
  writeHistory(name, workflowId, history);
  process.stdout.write(`${name}: ${history.events?.length} events\n`);
}

const wanted = process.argv.slice(2);
const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name);
const server = await openDevServer();
const bench = await openSessionBench(server.environment);
for (const [name, run] of Object.entries(SESSIONS)) {
  if (!isWanted(name)) continue;
  const { handle } = await run(bench);
  await record(name, server, handle.workflowId);
}
for (const [name, run] of Object.entries({
  sweep,
  'sweep-machine-away': sweepAway,
  'session-ttl': expiry,
  trust,
  batcher,
  'ensure-batcher': ensureBatcher,
  'hardware-sync': hardwareSync,
  'ensure-hardware-sync': ensureHardwareSync,
  ...IMAGE_HISTORIES,
  ...LANE_HISTORIES,
})) {
  if (isWanted(name)) await record(name, server, await run(server));
}
for (const name of Object.keys(SCHEDULE_RUNS)) {
  if (isWanted(name)) await record(name, server, await scheduleRun(name, server));
}
await bench.close();
await server.close();
