/** Runs session workflows against fake activities. */
import { randomUUID } from 'node:crypto';
import { WorkflowFailedError, type WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, type HistoryAndWorkflowId } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { SESSION_FAILED } from '../../../domain/sessions/session-result.ts';
import { sessionWorkflowId } from '../../../domain/sessions/workflow-id.ts';
import { getProgress, type WorkflowProgress } from '../../../workflows/sessions/messages.ts';
import type { sessionWorkflow } from '../../../workflows/sessions/session.workflow.ts';
import { eventually } from '../eventually.ts';
import { type FakeSession, fakeSession, type SessionActivities, sharedActivities } from '../fakes/fake-session.ts';
import { workflowBundle } from '../temporal/workflow-environment.ts';

export type SessionHandle = WorkflowHandleWithFirstExecutionRunId<typeof sessionWorkflow>;

export interface SessionUnderTest {
  sessionId: string;
  fake: FakeSession;
  handle: SessionHandle;
  progress(): Promise<WorkflowProgress>;
  /** Waits until the workflow answers that it is in this phase. */
  inPhase(phase: string): Promise<WorkflowProgress>;
  /** Waits until the workflow stands in line. */
  inLine(): Promise<WorkflowProgress>;
  /**
   * Waits for the end of the workflow, and answers it; in a time-skipping environment waits cost nothing then. Throws where the workflow
   * was broken off.
   */
  result(): Promise<SessionClose>;
}

/** How a session's workflow ended. */
export type SessionClose =
  | { state: 'completed'; result: unknown }
  | { state: 'failed'; message: string; details: unknown }
  | { state: 'cancelled' };

/** One worker on a queue of its own, and any number of sessions on it, each with its own fakes. */
export interface SessionBench {
  queue: string;
  /** `workflowTaskTimeout`, ms: what takes longer beside a workflow than most of this is known to the engine as open. */
  start(instead?: Partial<SessionActivities>, options?: { workflowTaskTimeout?: number }): Promise<SessionUnderTest>;
  /** Ends the worker as a process ends that is told to stop: its activities are cancelled at once. */
  stopWorker(): Promise<void>;
  /** Another worker on the same queue. */
  startWorker(): Promise<void>;
  /** A worker for activities alone on another queue: a machine with a workspace. Answers how to stop it. */
  startMachine(machineQueue: string): Promise<() => Promise<void>>;
  /** Keeps the histories of what was started since the last time; call it after each test. */
  finish(): Promise<void>;
  /** Replays all histories that `finish` kept and answers how many; fails when one does not replay. */
  replayAll(): Promise<number>;
  /** Stops the worker for good. */
  close(): Promise<void>;
}

/** A worker that fails workflows with bugs at once, hears of cancellations quickly and names no machine. */
export async function startTestWorker(
  environment: TestWorkflowEnvironment,
  options: WorkerOptions,
): Promise<() => Promise<void>> {
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    identity: 'worker@test',
    workflowFailureErrorTypes: { '*': ['Error'] },
    maxHeartbeatThrottleInterval: '50ms',
    defaultHeartbeatThrottleInterval: '50ms',
    shutdownForceTime: '60s',
    ...options,
  });
  const running = worker.run();
  running.catch(() => undefined);
  return async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
  };
}

export async function openSessionBench(environment: TestWorkflowEnvironment): Promise<SessionBench> {
  const queue = `test-${randomUUID()}`;
  const fakes = new Map<string, FakeSession>();
  const histories: HistoryAndWorkflowId[] = [];
  let unfinished: SessionHandle[] = [];
  const startWorker = async () =>
    startTestWorker(environment, {
      taskQueue: queue,
      workflowBundle: await workflowBundle(),
      activities: sharedActivities(fakes),
    });
  let stop = await startWorker();

  return {
    queue,
    start: async (instead = {}, options = {}) => {
      const sessionId = randomUUID();
      const fake = fakeSession(queue, instead);
      fakes.set(sessionId, fake);
      const handle = await environment.client.workflow.start<typeof sessionWorkflow>('sessionWorkflow', {
        workflowId: sessionWorkflowId({ id: sessionId, name: 'test' }),
        taskQueue: queue,
        args: [{ sessionId }],
        ...options,
      });
      unfinished.push(handle);
      const progress = () => handle.query(getProgress);
      const progressThat = (what: string, fits: (now: WorkflowProgress) => boolean) =>
        eventually(what, async () => {
          const now = await progress();
          return fits(now) && now;
        });
      return {
        sessionId,
        fake,
        handle,
        progress,
        inPhase: (phase) => progressThat(`phase ${phase}`, (now) => now.phase === phase),
        inLine: () => progressThat('in line', (now) => now.message === 'in line'),
        result: () => closeOf(handle),
      };
    },
    stopWorker: () => stop(),
    startWorker: async () => {
      stop = await startWorker();
    },
    startMachine: (machineQueue) =>
      startTestWorker(environment, { taskQueue: machineQueue, activities: sharedActivities(fakes) }),
    finish: async () => {
      const handles = unfinished;
      unfinished = [];
      for (const handle of handles) {
        const { status } = await handle.describe();
        if (status.name === 'RUNNING') await handle.terminate('the test is over');
        histories.push({ workflowId: handle.workflowId, history: await handle.fetchHistory() });
      }
    },
    replayAll: () => replayHistories(histories),
    close: () => stop(),
  };
}

/** Waits for the end of a session's workflow, and answers it. */
export async function closeOf(handle: Pick<SessionHandle, 'result'>): Promise<SessionClose> {
  try {
    return { state: 'completed', result: await handle.result() };
  } catch (error) {
    const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
    if (cause instanceof CancelledFailure) return { state: 'cancelled' };
    if (!(cause instanceof ApplicationFailure) || cause.type !== SESSION_FAILED || !cause.nonRetryable) throw error;
    return { state: 'failed', message: cause.message, details: cause.details };
  }
}

/** Replays histories against today's workflows and answers how many; fails when these would do something else. */
export async function replayHistories(histories: HistoryAndWorkflowId[]): Promise<number> {
  const failures: string[] = [];
  const options = { workflowBundle: await workflowBundle() };
  for await (const { workflowId, error } of Worker.runReplayHistories(options, histories)) {
    if (error !== undefined) failures.push(`${workflowId}: ${error.message}`);
  }
  if (failures.length > 0) throw new Error(`do not replay:\n${failures.join('\n')}`);
  return histories.length;
}
