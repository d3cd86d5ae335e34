import { expect, test } from '@jest/globals';
import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { RunLayer } from '../../../activities/sessions/contract.ts';
import { finishDebug, retrySession } from '../../../workflows/sessions/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { admitted, endlessRuns, gate, layerOutcome } from '../../support/fakes/fake-session.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { benchOfBlock } from '../../support/stack/bench-of-block.ts';
import { replayHistories, type SessionUnderTest } from '../../support/stack/session-bench.ts';
import { type PlainEvent, parseHistory, toPlain } from '../../support/temporal/history-files.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer } from '../../support/temporal/workflow-environment.ts';

const LAYER_0_FAILED = {
  succeeded: 'false',
  message: 'layer 1 site.yml failed: 1 of 3 hosts failed, exit status 2',
  reason: 'layer_failed',
};

const finish = (session: SessionUnderTest) => session.handle.executeUpdate(finishDebug);
const retry = (session: SessionUnderTest, hosts: 'all' | 'failed' = 'all') =>
  session.handle.executeUpdate(retrySession, { args: [{ hosts }] });

/** The type of the failure with which the workflow refuses an update. */
async function refusal(update: Promise<void>): Promise<string | null | undefined> {
  const error = await update.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (!(error instanceof WorkflowUpdateFailedError) || !(error.cause instanceof ApplicationFailure)) {
    throw new Error(`not refused: ${error}`);
  }
  return error.cause.type;
}

/** The task before the accepted command ran out of time: its markers are in the command's own task. */
function withOneTaskFewer(events: readonly PlainEvent[]): PlainEvent[] {
  const accepted = events.findIndex(({ eventType }) => eventType.endsWith('UPDATE_ACCEPTED'));
  const marker = events.findLastIndex(({ eventType }, at) => at < accepted && eventType.endsWith('MARKER_RECORDED'));
  const completed = events.findLastIndex(({ eventType }, at) => at < marker && eventType.endsWith('TASK_COMPLETED'));
  expect(accepted - completed).toBe(5);
  const { eventId, eventTime, workflowTaskCompletedEventAttributes: of } = events[completed] as PlainEvent;
  const { scheduledEventId, startedEventId } = of as Record<string, string>;
  const timedOut: PlainEvent = {
    eventId,
    eventTime,
    eventType: 'EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT',
    workflowTaskTimedOutEventAttributes: {
      scheduledEventId,
      startedEventId,
      timeoutType: 'TIMEOUT_TYPE_START_TO_CLOSE',
    },
  };
  const order = [
    ...events.slice(0, completed),
    timedOut,
    ...events.slice(marker + 1, accepted),
    events[marker] as PlainEvent,
    ...events.slice(accepted),
  ];
  const numbers = new Map(order.map((event, index) => [event.eventId, String(index + 1)]));
  const renumbered = JSON.stringify(order, (key, value) =>
    /eventId$/i.test(key) ? (numbers.get(value) ?? value) : value,
  );
  return JSON.parse(renumbered);
}

/** A layer's run as `layer/attempt hosts`. */
const runsOf = (session: SessionUnderTest) =>
  session.fake.inputs('runLayer').map(({ layer, attempt, hosts }) => `${layer}/${attempt} ${hosts}`);

describeNeeding(temporalMissing(), 'hold after a failure', () => {
  const { bench } = benchOfBlock(openDevServer);

  /** Two layers with `debug_on_failure`; `exitCode` decides each run. */
  const startHolding = (exitCode: (run: RunLayer) => number, debugWaitSeconds = 3600) =>
    bench.start({
      admitSession: async () => admitted({ layers: [0, 1], debugOnFailure: true, debugWaitSeconds }),
      runLayer: async (run) => layerOutcome(run.layer, exitCode(run)),
    });

  const firstAttemptFails = ({ attempt }: RunLayer) => (attempt === 1 ? 2 : 0);

  test('the record says why and how long', async () => {
    const session = await startHolding(() => 2, 90);
    const { message, layer } = await session.inPhase('hold');
    expect(layer).toBe(0);
    const [, name = ''] = session.handle.workflowId.split('/');
    expect(message).toMatch(
      /^held until (\d{4}-\d\d-\d\dT)?\d\d:\d\d:\d\dZ after layer 1 site\.yml failed: 1 of 3 hosts failed, exit status 2; /,
    );
    expect(message).toContain(`\`./muster session retry ${name}\``);
    expect(message).toContain(`\`./muster session finish-debug ${name}\``);
    expect(message).toContain('; workspace /data/workspaces/one');
    await eventually('the hold is recorded', () => session.fake.inputs('recordHold').length === 1);
    expect(session.fake.inputs('recordHold')).toEqual([{ layer: 0, message }]);
    expect(session.fake.names()).not.toContain('removeWorkspace');
  });

  test('does not happen after a success', async () => {
    const session = await startHolding(() => 0);
    await session.result();
    expect(session.fake.inputs('recordHold')).toEqual([]);
    expect(runsOf(session)).toEqual(['0/1 all', '1/1 all']);
  });

  test('does not happen where nobody asked for it', async () => {
    const session = await bench.start({ runLayer: async ({ layer }) => layerOutcome(layer, 2) });
    await session.result();
    expect(session.fake.inputs('recordHold')).toEqual([]);
  });

  test('finishDebug ends it at once, as the failure says', async () => {
    const session = await startHolding(() => 2, 86_400);
    await session.inPhase('hold');
    await finish(session);
    await session.inPhase('done');
    expect(runsOf(session)).toEqual(['0/1 all']);
    expect(session.fake.end()).toEqual(LAYER_0_FAILED);
  });

  test('finishDebug while the hold is still being recorded is not lost', async () => {
    const recording = gate();
    const session = await bench.start({
      admitSession: async () => admitted({ debugOnFailure: true, debugWaitSeconds: 86_400 }),
      runLayer: async ({ layer }) => layerOutcome(layer, 2),
      recordHold: () => recording.pass(),
    });
    await recording.reached;
    const answer = finish(session);
    recording.open();
    await answer;
    await session.inPhase('done');
    expect(session.fake.end()).toEqual(LAYER_0_FAILED);
  });

  test('a replay that hears of a command before it comes to the hold goes the same way', async () => {
    const recording = gate();
    const session = await bench.start(
      {
        admitSession: async () => admitted({ debugOnFailure: true, debugWaitSeconds: 86_400 }),
        runLayer: async ({ layer }) => layerOutcome(layer, 2),
        recordHold: () => recording.pass(),
      },
      { workflowTaskTimeout: 10_000 },
    );
    await recording.reached;
    // While the record is open: the engine hears of the layer's record, and says the command, before most of a task's time is over.
    await finish(session);
    recording.open();
    await session.inPhase('done');
    expect(session.fake.end()).toEqual(LAYER_0_FAILED);
    const recorded = toPlain(await session.handle.fetchHistory());
    const { workflowId } = session.handle;
    expect(await replayHistories([parseHistory(JSON.stringify({ workflowId, history: recorded }))])).toBe(1);
    // As after a task whose time ran out: what it did is in one with the command.
    const merged = { workflowId, history: { events: withOneTaskFewer(recorded.events) } };
    expect(await replayHistories([parseHistory(JSON.stringify(merged))])).toBe(1);
  });

  test.each(['all', 'failed'] as const)(
    'a retry runs the same layer again for %s hosts, then goes on',
    async (hosts) => {
      const session = await startHolding(firstAttemptFails);
      await session.inPhase('hold');
      await retry(session, hosts);
      await session.result();
      expect(runsOf(session)).toEqual(['0/1 all', `0/2 ${hosts}`, '1/2 all']);
      expect(session.fake.inputs('recordLayer')).toEqual([
        { layer: 0, attempt: 1 },
        { layer: 0, attempt: 2 },
        { layer: 1, attempt: 2 },
      ]);
      expect(session.fake.end()).toMatchObject({ succeeded: 'true', message: '2 layers done on 3 hosts' });
    },
  );

  test('a retry that fails holds again, as often as it takes', async () => {
    const session = await startHolding(({ layer, attempt }) => (attempt < 3 || (layer === 1 && attempt < 4) ? 2 : 0));
    for (const attempt of [1, 2, 3]) {
      await eventually(`hold ${attempt}`, async () => {
        const progress = await session.progress();
        return progress.phase === 'hold' && progress.attempt === attempt;
      });
      await retry(session, 'failed');
    }
    await session.result();
    expect(runsOf(session)).toEqual(['0/1 all', '0/2 failed', '0/3 failed', '1/3 all', '1/4 failed']);
    expect(session.fake.inputs('recordHold')).toHaveLength(3);
    expect(session.fake.end().succeeded).toBe('true');
  });

  test('no run of a session has the same layer and attempt as another', async () => {
    const session = await startHolding(({ attempt }) => (attempt < 4 ? 2 : 0));
    for (const attempt of [1, 2, 3]) {
      await eventually(`hold ${attempt}`, async () => {
        const progress = await session.progress();
        return progress.phase === 'hold' && progress.attempt === attempt;
      });
      await retry(session);
    }
    await session.result();
    const ids = session.fake.inputs('runLayer').map(({ layer, attempt }) => `${attempt}-${layer}`);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(5);
  });

  test('a retry whose run is lost: unknown, no hold', async () => {
    const session = await bench.start({
      admitSession: async () => admitted({ debugOnFailure: true }),
      runLayer: async ({ layer, attempt }) => layerOutcome(layer, attempt === 1 ? 2 : null),
    });
    await session.inPhase('hold');
    await retry(session);
    await session.result();
    expect(session.fake.end()).toMatchObject({ succeeded: 'unknown', reason: 'run_lost' });
  });

  test('two retries at once are one', async () => {
    const session = await startHolding(firstAttemptFails);
    await session.inPhase('hold');
    await Promise.allSettled([retry(session), retry(session)]);
    await session.result();
    expect(runsOf(session)).toEqual(['0/1 all', '0/2 all', '1/2 all']);
  });

  test('commands are refused while the session does not hold, and change nothing', async () => {
    const runs = endlessRuns();
    const session = await bench.start({
      ...runs,
      admitSession: async () => admitted({ debugOnFailure: true, debugWaitSeconds: 86_400 }),
    });
    await runs.begun;
    expect(await refusal(finish(session))).toBe('session_not_holding');
    expect(await refusal(retry(session))).toBe('session_not_holding');
    await runs.endRun({ sessionId: session.sessionId, layer: 0, attempt: 1 });
    await session.inPhase('hold');
    await finish(session);
    await session.inPhase('done');
    expect(runsOf(session)).toEqual(['0/1 all']);
  });

  test('commands are refused after the hold, while the workspace is removed', async () => {
    const removal = gate();
    const session = await bench.start({
      admitSession: async () => admitted({ debugOnFailure: true }),
      runLayer: async ({ layer }) => layerOutcome(layer, 2),
      removeWorkspace: () => removal.pass(),
    });
    await session.inPhase('hold');
    await finish(session);
    await removal.reached;
    expect(await refusal(retry(session))).toBe('session_not_holding');
    removal.open();
    await session.result();
    expect(session.fake.end()).toEqual(LAYER_0_FAILED);
  });

  test('commands after the end find no workflow', async () => {
    const session = await bench.start();
    await session.result();
    await expect(finish(session)).rejects.toBeInstanceOf(WorkflowNotFoundError);
    await expect(retry(session)).rejects.toBeInstanceOf(WorkflowNotFoundError);
  });

  test('every history of these tests replays', async () => {
    expect(await bench.replayAll()).toBeGreaterThan(12);
  });
});
