/**
 * Who speaks to the engine without the key of the installation: another user of the machine, for whom the embedded Temporal has no login.
 * Everything that the contracts name is tried: each activity, signal and update, and the start of each workflow.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { heartbeat, sleep } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import type { Worker as TemporalWorker } from '@temporalio/worker';
import { Worker } from '@temporalio/worker';
import { signingConverter } from '../../control/temporal/connect.ts';
import { workerCodec } from '../../control/temporal/payload-mac.ts';
import { sealMessages } from '../../control/temporal/seal-messages.ts';
import { sealFor } from '../../domain/engine/seal.ts';
import { guardActivities } from '../../worker/activity-guard.ts';
import { translateFailures } from '../../worker/failure-interceptor.ts';
import { eventually } from '../support/eventually.ts';
import { ROOT } from '../support/source-tree.ts';
import { closeOf } from '../support/stack/session-bench.ts';
import { openDevServer, type TestServer, workflowBundle } from '../support/temporal/workflow-environment.ts';

const KEY = randomBytes(32);
const QUEUE = `signed-${randomUUID()}`;
const CONVERTERS = join(ROOT, 'worker', 'checked-payloads.ts');
const HOUR = 3_600_000;

/** Names in the sources, so that what is added to a contract is tried here too. */
function namesIn(folder: string, file: RegExp, name: RegExp): string[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).filter((path) =>
    file.test(path),
  );
  return files.flatMap((path) =>
    [...readFileSync(join(ROOT, folder, path), 'utf8').matchAll(name)].map(([, found]) => found as string),
  );
}
const ACTIVITIES = [...new Set(namesIn('activities', /contract\.ts$/, /^ {2}(\w+)\(.*\): Promise</gm))].sort();
const SIGNALS = namesIn('workflows', /messages\.ts$/, /defineSignal(?:<.*>)?\('(\w+)'\)/g).sort();
const UPDATES = namesIn('workflows', /messages\.ts$/, /defineUpdate<.*>\('(\w+)'\)/g).sort();
const WORKFLOWS = namesIn('workflows', /^index\.ts$/, /export \{ (\w+) \}/g).sort();

/** Workflows whose start has no input, and so no payload by which anybody could see since when MACs are required. */
const WITHOUT_INPUT = new Set(['batcherWorkflow', 'hardwareSyncWorkflow']);

let server: TestServer;
let worker: TemporalWorker;
let running: Promise<void>;
let requiredSince: Date | null;
let done: { activity: string; input: unknown }[];
let warnings: object[];
let ours: Client;
let stranger: Client;

const policy = {
  requiredSince: () => requiredSince,
  log: { warn: (fields: object) => void warnings.push(fields) },
};

const AWAY = { is: 'away', waitMs: HOUR, reason: 'r', message: 'm', hasMoved: false, counts: true };
/** The first cluster is at work without end; the others are away, or back where they hold no place. */
const applyGroup = async ({ cluster, hasPlace }: { cluster: string; hasPlace?: boolean }) => {
  while (cluster === 'lab+a') {
    heartbeat();
    await sleep(500);
  }
  return hasPlace === false ? { ...AWAY, isBack: true } : AWAY;
};
const phaseOn = (...clusters: string[]) => ({
  ...{ phase: 'apply', parallel: 1, clusters: clusters.map((cluster) => ({ cluster, apps: ['agent'] })) },
});
const GROUPS = { context: '1', phase: 'apply', cluster: 'lab+b', apps: [{ app: 'agent', waits: 0 }] };
/** What sessions ask for, as if nothing was to be done; the first waits in line. */
const ANSWERS: Record<string, unknown> = {
  recordEnd: null,
  admitSession: { state: 'waiting', message: 'waits', retrySeconds: 3_600 },
  runBatcherPass: { waitMs: HOUR, nextAt: Date.now() + HOUR, restMs: 1, summary: 'nothing' },
  deliverNotifications: { nextMs: HOUR },
  advancePlan: { isOver: false, more: false, attempts: [], waitMs: HOUR, summary: 'nothing' },
  dispatchReconciles: { nextMs: HOUR },
  sweepSessions: { hosts: [] },
  sweepImageJobs: { queues: [] },
  takeImageTurn: { state: 'wait', message: 'waits', retrySeconds: 3_600 },
  readImageJob: { status: 'created', over: false, queue: null, stepSeconds: 60 },
  syncHardware: null,
  beginScheduleRun: null,
  applyGroup,
};

beforeAll(async () => {
  server = await openDevServer();
  const { connection, nativeConnection } = server.environment;
  stranger = new Client({ connection });
  ours = new Client({
    connection,
    interceptors: { workflow: [sealMessages()] },
    dataConverter: signingConverter({ key: () => KEY, ...policy }) as never,
  });
  const activities = Object.fromEntries(
    ACTIVITIES.map((name) => [
      name,
      async (...given: unknown[]) => {
        done.push({ activity: name, input: given[0] });
        if (given.length > 1) throw new Error(`${name} got its seal`);
        const answer = ANSWERS[name];
        return typeof answer === 'function' ? await answer(given[0]) : answer;
      },
    ]),
  );
  worker = await Worker.create({
    connection: nativeConnection,
    taskQueue: QUEUE,
    workflowBundle: await workflowBundle(),
    activities,
    dataConverter: {
      payloadConverterPath: CONVERTERS,
      failureConverterPath: CONVERTERS,
      payloadCodecs: [workerCodec(() => KEY, policy)],
    },
    interceptors: {
      activity: [
        ({ info }) => ({ inbound: guardActivities(info, { signing: policy, log: policy.log }) }),
        () => ({ inbound: translateFailures() }),
      ],
    },
  });
  running = worker.run();
  running.catch(() => undefined);
});
afterAll(async () => {
  worker.shutdown();
  await running;
  await server.close();
});
beforeEach(() => {
  requiredSince = new Date(Date.now() - HOUR);
  done = [];
  warnings = [];
});

/** A session of ours that waits in line. */
async function waitingSession(client = ours) {
  const sessionId = randomUUID();
  const handle = await client.workflow.start('sessionWorkflow', {
    workflowId: `session/s/${sessionId}`,
    taskQueue: QUEUE,
    args: [{ sessionId }],
  });
  await eventually('that it stands in line', async () => asked(sessionId) === 1);
  return { sessionId, handle };
}
const asked = (sessionId: string) =>
  done.filter(({ activity, input }) => activity === 'admitSession' && JSON.stringify(input).includes(sessionId)).length;

/** Whoever polls says how long. */
const soon = <T>(work: () => Promise<T>): Promise<T> => stranger.withDeadline(Date.now() + 30_000, work);

/** Waits until a workflow has taken in what it was told. */
const settled = (workflowId: string) =>
  eventually('that it has taken in what it was told', async () => {
    const { raw } = await stranger.workflow.getHandle(workflowId).describe();
    return !raw.pendingWorkflowTask;
  });

const INPUT = { sessionId: 's', jobId: 'j', runId: 'r', name: 'n', layer: 0, attempt: 1 };

test('there is something to try', () => {
  expect(ACTIVITIES).toEqual(
    expect.arrayContaining([
      'removeWorkspace',
      'endRun',
      'cleanHost',
      'packRoot',
      'renewTrust',
      'syncHardware',
      'openImage',
      'finishJob',
    ]),
  );
  expect(ACTIVITIES.length).toBeGreaterThanOrEqual(45);
  expect(SIGNALS).toEqual([
    'clusterReturns',
    'clusterWaits',
    'endImageJob',
    'leasesFree',
    'lookAgain',
    'notificationsDue',
    'pokeBatcher',
    'pokePlan',
    'resourcesDue',
    'runGivenUp',
    'slotFree',
    'syncWanted',
    'takePlace',
    'wakeContext',
  ]);
  expect(UPDATES).toEqual(['cancelSession', 'finishDebug', 'retrySession']);
  expect(WORKFLOWS).toHaveLength(20);
});

describe('somebody without the key', () => {
  /** Asks for work on a queue, as a workflow of somebody's own does: the stranger answers its workflow tasks by hand. */
  async function callActivity(activity: string, args: unknown[]): Promise<string> {
    const { workflowService } = stranger;
    const namespace = 'default';
    const queue = `stranger-${randomUUID()}`;
    const handle = await stranger.workflow.start('anybody', {
      workflowId: `anybody-${randomUUID()}`,
      taskQueue: queue,
    });
    const taskQueue = { name: queue };
    const payloads = args.map((value) => ({
      metadata: { encoding: Buffer.from('json/plain') },
      data: Buffer.from(JSON.stringify(value)),
    }));
    const poll = () => soon(() => workflowService.pollWorkflowTaskQueue({ namespace, taskQueue }));
    const first = await poll();
    await workflowService.respondWorkflowTaskCompleted({
      namespace,
      taskToken: first.taskToken,
      commands: [
        {
          commandType: 1,
          scheduleActivityTaskCommandAttributes: {
            activityId: '1',
            activityType: { name: activity },
            taskQueue: { name: QUEUE },
            input: payloads.length === 0 ? null : { payloads },
            startToCloseTimeout: { seconds: 30 as never },
            scheduleToCloseTimeout: { seconds: 30 as never },
            retryPolicy: { maximumAttempts: 3 },
          },
        },
      ],
    });
    const second = await poll();
    const failed = second.history?.events?.find(({ activityTaskFailedEventAttributes: found }) => found);
    await handle.terminate();
    const { failure } = failed?.activityTaskFailedEventAttributes ?? {};
    return failure?.applicationFailureInfo?.nonRetryable
      ? (failure.applicationFailureInfo.type ?? '')
      : 'done, or tried again';
  }

  test.each(ACTIVITIES)('cannot call %s, with input, without, or with a seal that nobody signed', async (activity) => {
    for (const args of [[INPUT], [], [INPUT, sealFor('activity', activity)]]) {
      expect(await callActivity(activity, args)).toBe('payload_refused');
    }
    expect(done).toEqual([]);
  });

  test.each(SIGNALS.filter((signal) => signal !== 'syncWanted'))('cannot say %s', async (signal) => {
    const { workflowId, waitsIn, says, said = [] } = await targetOf(signal);
    const waits = async () =>
      says === undefined
        ? done.filter(({ activity }) => activity === waitsIn).length
        : await timesSaid(workflowId, says);
    await settled(workflowId);
    const before = await waits();
    for (const args of [[], [{}], said, [...said, sealFor('signal', signal)]]) {
      await stranger.workflow.getHandle(workflowId).signal(signal, ...args);
    }
    await settled(workflowId);
    expect(await waits()).toBe(before);
    await ours.workflow.getHandle(workflowId).signal(signal, ...said);
    await eventually('what our word asks for', async () => (await waits()) === before + 1);
    // Some have ended with our word.
    await stranger.workflow
      .getHandle(workflowId)
      .terminate()
      .catch(() => undefined);
  });

  test('cannot say syncWanted', async () => {
    // A sync that finds nothing to do ends, unless it was told so while it looked.
    const ends = async (say: (workflowId: string) => Promise<void>) => {
      done = [];
      let found: (nothing: object) => void = () => undefined;
      ANSWERS.beginSync = () =>
        new Promise((resolve) => {
          found = resolve;
        });
      const looks = () => done.filter(({ activity }) => activity === 'beginSync').length;
      const workflowId = `sync-repository/${randomUUID()}`;
      const args = [{ repository: 'r' }];
      const handle = await ours.workflow.start('syncRepositoryWorkflow', { workflowId, taskQueue: QUEUE, args });
      await eventually('that it looks', async () => looks() === 1);
      await say(workflowId);
      await settled(workflowId);
      ANSWERS.beginSync = { sync: null };
      found({ sync: null });
      await handle.result();
      return looks();
    };
    const word = (client: Client, ...said: unknown[]) => {
      return (workflowId: string) => client.workflow.getHandle(workflowId).signal('syncWanted', ...said);
    };
    for (const said of [[], [{}], [sealFor('signal', 'syncWanted')]]) {
      expect(await ends(word(stranger, ...said))).toBe(1);
    }
    expect(await ends(word(ours))).toBe(2);
  });

  /** Returns how often a workflow has said a word to another one. */
  async function timesSaid(workflowId: string, word: string): Promise<number> {
    const { events } = await stranger.workflow.getHandle(workflowId).fetchHistory();
    const said = events?.map((event) => event.signalExternalWorkflowExecutionInitiatedEventAttributes?.signalName);
    return said?.filter((name) => name === word).length ?? 0;
  }

  interface Target {
    workflowId: string;
    /** Activity that the signal brings about. */
    waitsIn: string;
    /** Signal to another workflow that it brings about instead. */
    says?: string;
    said?: object[];
  }

  /** A workflow of ours that waits for the signal. */
  async function targetOf(signal: string): Promise<Target> {
    if (signal === 'slotFree') return { ...(await waitingSession()).handle, waitsIn: 'admitSession' };
    if (signal === 'leasesFree') return { ...(await waitingForLeases()), waitsIn: 'takeLeases' };
    // Their words come to children too, and from them.
    if (signal === 'clusterWaits') return { ...(await context('lab+a', 'lab+b')), said: [{ cluster: 'lab+a' }] };
    if (signal === 'clusterReturns') {
      return { ...(await context('lab+b')), says: 'takePlace', said: [{ cluster: 'lab+b' }] };
    }
    if (signal === 'wakeContext') return await context('lab+b');
    if (signal === 'runGivenUp') return await onAwayMachine();
    const jobId = randomUUID();
    const [type, args, waitsIn] = (
      {
        pokeBatcher: ['batcherWorkflow', [], 'runBatcherPass'],
        notificationsDue: ['webhookWorkflow', [{ name: 'w' }], 'deliverNotifications'],
        endImageJob: ['imageJobWorkflow', [{ jobId }], 'takeImageTurn'],
        resourcesDue: ['operatorDispatcherWorkflow', [{ operator: 'o' }], 'dispatchReconciles'],
        lookAgain: ['clusterGroupsWorkflow', [GROUPS], 'applyGroup'],
        takePlace: ['clusterGroupsWorkflow', [{ ...GROUPS, hasPlace: false }], 'applyGroup'],
        pokePlan: ['planExecutionWorkflow', [{ plan: jobId }], 'advancePlan'],
      } as Record<string, [string, object[], string]>
    )[signal] as [string, object[], string];
    const known: Record<string, string> = { imageJobWorkflow: 'image-job', planExecutionWorkflow: 'plan' };
    const workflowId = known[type] === undefined ? `${type}-${randomUUID()}` : `${known[type]}/${jobId}`;
    await ours.workflow.start(type, { workflowId, taskQueue: QUEUE, args });
    await eventually('that it waits', async () => done.some(({ activity }) => activity === waitsIn));
    return { workflowId, waitsIn };
  }

  /** A reconcile whose machine takes nothing in. */
  async function onAwayMachine(): Promise<{ workflowId: string; waitsIn: string }> {
    const workflowId = `reconcile-${randomUUID()}`;
    const args = [{ reconcileId: randomUUID(), machine: randomUUID() }];
    await ours.workflow.start('operatorReconcileWorkflow', { workflowId, taskQueue: QUEUE, args });
    return { workflowId, waitsIn: 'finishReconcile' };
  }

  /** An AppContext whose first cluster is reached. */
  async function context(...clusters: string[]): Promise<{ workflowId: string; waitsIn: string }> {
    ANSWERS.beginPhase = phaseOn(...clusters);
    const id = `${Date.now()}`;
    const workflowId = `appcontext/${id}`;
    await ours.workflow.start('appContextWorkflow', { workflowId, taskQueue: QUEUE, args: [{ context: id }] });
    await eventually('that it is at work', async () => done.some(({ activity }) => activity === 'applyGroup'));
    return { workflowId, waitsIn: 'applyGroup' };
  }

  async function waitingForLeases(): Promise<{ workflowId: string }> {
    ANSWERS.admitSession = {
      state: 'admitted',
      plan: { layers: [0], debug: false, debugOnFailure: false, debugWaitSeconds: 0, timeoutSeconds: 0 },
    };
    ANSWERS.cloneLayers = { hostQueue: QUEUE };
    ANSWERS.writeInventory = { leases: true };
    ANSWERS.takeLeases = { state: 'waiting', message: 'waits', retrySeconds: 3_600 };
    try {
      const { handle } = await waitingSession();
      await eventually('that it waits', async () => done.some(({ activity }) => activity === 'takeLeases'));
      return handle;
    } finally {
      ANSWERS.admitSession = { state: 'waiting', message: 'waits', retrySeconds: 3_600 };
    }
  }

  test.each(UPDATES)('cannot ask for %s', async (update) => {
    const { handle, sessionId } = await waitingSession();
    const theirs = stranger.workflow.getHandle(handle.workflowId);
    for (const args of [[{ reason: 'forged', hosts: 'all' }], [], [{ reason: 'forged' }, sealFor('update', update)]]) {
      const refused = theirs.executeUpdate(update, { args: args as never });
      await expect(refused).rejects.toMatchObject({ cause: { type: 'payload_refused' } });
    }
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect(asked(sessionId)).toBe(1);
    await theirs.terminate();
  });

  test.each(WORKFLOWS.filter((name) => !WITHOUT_INPUT.has(name)))('cannot start %s', async (type) => {
    const handle = await stranger.workflow.start(type, {
      workflowId: `forged-${randomUUID()}`,
      taskQueue: QUEUE,
      args: [INPUT],
    });
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'payload_refused' } });
    expect(done).toEqual([]);
  });

  test('cannot answer for a machine: a forged result ends the session', async () => {
    const machine = `machine-${randomUUID()}`;
    ANSWERS.admitSession = {
      state: 'admitted',
      plan: { layers: [0], debug: false, debugOnFailure: false, debugWaitSeconds: 0, timeoutSeconds: 0 },
    };
    ANSWERS.cloneLayers = { hostQueue: machine };
    const { handle } = await waitingSession();
    ANSWERS.admitSession = { state: 'waiting', message: 'waits', retrySeconds: 3_600 };
    const { workflowService } = stranger;
    const task = await soon(() =>
      workflowService.pollActivityTaskQueue({ namespace: 'default', taskQueue: { name: machine } }),
    );
    const forged = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"leases":false}') };
    await workflowService.respondActivityTaskCompleted({
      namespace: 'default',
      taskToken: task.taskToken,
      result: { payloads: [forged] },
    });
    const end = () => done.find(({ activity }) => activity === 'recordEnd');
    await eventually('its end', async () => end() !== undefined, 60_000);
    expect(end()?.input).toMatchObject({ succeeded: 'false', reason: 'payload_refused' });
    await handle.terminate().catch(() => undefined);
  });
});

test('what was signed for one workflow is refused in another, and what was signed for one message as another', async () => {
  const [one, other] = [await waitingSession(), await waitingSession()];
  await ours.workflow.getHandle(one.handle.workflowId).signal('slotFree');
  await eventually('that it asks again', async () => asked(one.sessionId) === 2);
  const { events } = await stranger.workflow.getHandle(one.handle.workflowId).fetchHistory();
  const signed = events?.find(
    (event) => event.workflowExecutionSignaledEventAttributes,
  )?.workflowExecutionSignaledEventAttributes;
  const say = (workflowId: string, signalName: string) =>
    stranger.workflowService.signalWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId },
      signalName,
      input: signed?.input ?? null,
    });
  await say(other.handle.workflowId, 'slotFree');
  await say(other.handle.workflowId, 'leasesFree');
  await ours.workflow.getHandle(other.handle.workflowId).signal('slotFree');
  await eventually('that the other asks again for our word', async () => asked(other.sessionId) === 2);
  expect(warnings).toEqual(expect.arrayContaining([expect.objectContaining({ workflow: other.handle.workflowId })]));
  for (const { handle } of [one, other]) await handle.terminate();
});

test('what has no MAC counts while an older release is there, and later in what it has begun', async () => {
  requiredSince = null;
  const { sessionId, handle } = await waitingSession(stranger);
  await stranger.workflow.getHandle(handle.workflowId).signal('slotFree');
  await eventually('that it asks again', async () => asked(sessionId) === 2);
  // Required from now on: what is under way goes on to its end.
  requiredSince = new Date();
  await stranger.workflow.getHandle(handle.workflowId).signal('slotFree');
  await eventually('that it asks once more', async () => asked(sessionId) === 3);
  await ours.workflow.getHandle(handle.workflowId).executeUpdate('cancelSession', { args: [{ reason: 'cancelled' }] });
  expect(await closeOf(handle)).toEqual({ state: 'cancelled' });
  expect(done.at(-1)).toMatchObject({ activity: 'recordEnd', input: { sessionId, reason: 'cancelled' } });
});

test('payloads stay readable for whoever looks at the workflow', async () => {
  const { handle, sessionId } = await waitingSession();
  const { events } = await stranger.workflow.getHandle(handle.workflowId).fetchHistory();
  const [payload, seal] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  expect(JSON.parse(Buffer.from(payload?.data ?? []).toString())).toEqual({ sessionId });
  expect(JSON.parse(Buffer.from(seal?.data ?? []).toString())).toEqual({ sealed_for: 'workflow sessionWorkflow' });
  expect(Object.keys(payload?.metadata ?? {})).toEqual(expect.arrayContaining(['encoding', 'muster-mac']));
  await handle.terminate();
});
