import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { WorkflowFailedError } from '@temporalio/client';
import { withHeartbeat } from '../../../activities/heartbeat.ts';
import { startSessionWorkflow } from '../../../control/sessions/start-workflow.ts';
import { sessionWorkflowId } from '../../../domain/sessions/workflow-id.ts';
import { cancelSession, slotFree } from '../../../workflows/sessions/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { admitted, endlessRuns, endlessWork, layerOutcome, waiting } from '../../support/fakes/fake-session.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { benchOfBlock } from '../../support/stack/bench-of-block.ts';
import type { SessionUnderTest } from '../../support/stack/session-bench.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer } from '../../support/temporal/workflow-environment.ts';

/** Events after which the server suggests to continue as new; a session that runs must stay far below the real hint. */
const HINT = 15;

const searchAttribute = async ({ handle }: SessionUnderTest, name: string) => {
  const { typedSearchAttributes } = await handle.describe();
  return typedSearchAttributes.getAll().find(({ key }) => key.name === name)?.value;
};

describeNeeding(temporalMissing(), 'durability of a session', () => {
  const { bench, server } = benchOfBlock(() => openDevServer([`limit.historyCount.suggestContinueAsNew=${HINT}`]));

  describe('a worker that is replaced', () => {
    test('in the middle of a run: the same run is followed again, nothing is ended, nothing else begins', async () => {
      const firstWatch = Promise.withResolvers<void>();
      const secondWatch = Promise.withResolvers<void>();
      let watches = 0;
      const session = await bench.start({
        runLayer: ({ layer }) =>
          withHeartbeat(async (signal) => {
            watches += 1;
            if (watches === 2) {
              secondWatch.resolve();
              return layerOutcome(layer, 0);
            }
            firstWatch.resolve();
            await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('let go'))));
            throw new Error('not reached');
          }),
      });
      await firstWatch.promise;
      await bench.stopWorker();
      await bench.startWorker();
      await secondWatch.promise;
      await session.result();
      expect(session.fake.inputs('runLayer')).toEqual(Array(2).fill({ layer: 0, attempt: 1, hosts: 'all' }));
      expect(session.fake.inputs('endRun')).toEqual([]);
      expect(session.fake.inputs('recordLayer')).toEqual([{ layer: 0, attempt: 1 }]);
      expect(session.fake.end().succeeded).toBe('true');
      const { events } = await session.handle.fetchHistory();
      const scheduled = (events ?? []).filter(
        (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'runLayer',
      );
      expect(scheduled).toHaveLength(1);
    });

    test('while it waits in line, and in the hold: the next one goes on from there', async () => {
      let free = false;
      const session = await bench.start({
        admitSession: async () => (free ? admitted({ debugOnFailure: true }) : waiting(86_400)),
        runLayer: async ({ layer }) => layerOutcome(layer, 2),
      });
      await session.inLine();
      await bench.stopWorker();
      free = true;
      await session.handle.signal(slotFree);
      await bench.startWorker();
      await session.inPhase('hold');
      await bench.stopWorker();
      await bench.startWorker();
      await session.handle.executeUpdate('finishDebug');
      await session.result();
      expect(session.fake.inputs('runLayer')).toHaveLength(1);
      expect(session.fake.end().reason).toBe('layer_failed');
    });
  });

  describe('a machine that goes away', () => {
    test('after the clone: the session ends and says so, its workspace cannot be removed', async () => {
      const session = await bench.start({ cloneLayers: async () => ({ hostQueue: `away-${randomUUID()}` }) });
      await session.result();
      expect(session.fake.names()).toEqual(['admitSession', 'cloneLayers', 'recordEnd']);
      expect(session.fake.end()).toEqual({
        succeeded: 'false',
        message: 'writeInventory got no answer from the machine that has the workspace',
        reason: 'runner_gone',
      });
    });

    /** A session whose machine is stopped in the middle of its run. Until then the machine has the time to take its work up. */
    const startAndLose = async () => {
      const hostQueue = `machine-away-6s-${randomUUID()}`;
      const stopMachine = await bench.startMachine(hostQueue);
      const run = endlessWork();
      const session = await bench.start({ cloneLayers: async () => ({ hostQueue }), runLayer: run.run });
      await run.begun;
      return { session, stopMachine };
    };

    test('in the middle of a run: unknown, because nobody knows what became of it', async () => {
      const { session, stopMachine } = await startAndLose();
      await stopMachine();
      await session.result();
      expect(session.fake.inputs('recordLayer')).toEqual([]);
      expect(session.fake.end()).toMatchObject({ succeeded: 'unknown', reason: 'runner_gone' });
    });

    test('before it has confirmed a cancel: unknown too', async () => {
      const { session, stopMachine } = await startAndLose();
      const cancel = session.handle.executeUpdate(cancelSession, { args: [{ reason: 'cancelled by alice' }] });
      await Promise.all([cancel, stopMachine()]);
      await session.result();
      expect(session.fake.end()).toMatchObject({ succeeded: 'unknown', reason: 'runner_gone' });
    });
  });

  test('terminated: the activity lets go and nothing more is written, that is left to the sweep', async () => {
    const runs = endlessWork();
    const session = await bench.start({ runLayer: runs.run });
    await runs.begun;
    await session.handle.terminate('from the web UI');
    await expect(session.result()).rejects.toBeInstanceOf(WorkflowFailedError);
    await eventually('the watch has let go', runs.cancelled);
    expect(session.fake.names()).not.toContain('endRun');
    expect(session.fake.inputs('recordEnd')).toEqual([]);
  });

  test('history: at most 40 events and 10 for each layer, below 100 KB', async () => {
    const layers = Array.from({ length: 10 }, (_, index) => index);
    const sizes = [];
    for (const given of [[0], layers]) {
      const session = await bench.start({ admitSession: async () => admitted({ layers: given }) });
      await session.result();
      const { historyLength, historySize } = await session.handle.describe();
      expect(historyLength).toBeLessThanOrEqual(40 + 10 * given.length);
      expect(historySize ?? 0).toBeGreaterThan(0);
      expect(historySize ?? 0).toBeLessThan(100_000);
      sizes.push(historyLength);
    }
    const [one = 0, ten = 0] = sizes;
    expect((ten - one) / 9).toBeLessThanOrEqual(10);
  });

  test('search attribute MusterStatus follows the record', async () => {
    const runs = endlessRuns();
    const session = await bench.start(runs);
    await runs.begun;
    await eventually('running', async () => (await searchAttribute(session, 'MusterStatus')) === 'running');
    await runs.endRun({ sessionId: session.sessionId, layer: 0, attempt: 1 });
    await session.result();
    expect(await searchAttribute(session, 'MusterStatus')).toBe('complete-false');
  });

  describe('a long wait in line', () => {
    test('continues as new at the hint, as often as needed, and is admitted all the same', async () => {
      let asked = 0;
      const session = await bench.start({ admitSession: async () => (++asked < 6 ? waiting(0.02) : admitted()) });
      await session.result();
      const description = await session.handle.describe();
      expect(description.runId).not.toBe(session.handle.firstExecutionRunId);
      expect(description.historyLength).toBeLessThan(HINT + 40);
      expect(asked).toBeGreaterThanOrEqual(6);
      expect(session.fake.end().succeeded).toBe('true');
    });

    test('loses no cancel that comes while it continues as new', async () => {
      const session = await bench.start({ admitSession: async () => waiting(0.01) });
      await eventually('it has continued', async () => {
        const { runId } = await session.handle.describe();
        return runId !== session.handle.firstExecutionRunId;
      });
      const latest = server.environment.client.workflow.getHandle(session.handle.workflowId);
      await latest.executeUpdate(cancelSession, { args: [{ reason: 'cancelled by alice' }] });
      await session.result();
      expect(session.fake.end()).toEqual({ succeeded: 'false', message: 'cancelled by alice', reason: 'cancelled' });
    });
  });

  describe('start', () => {
    const row = (tags: Record<string, string> = {}) => ({
      id: randomUUID(),
      name: 'nightly',
      configuration_name: 'compute',
      target: { definition: 'dynamic' as const },
      ansible_limit: 'x1,x2',
      tags,
      created_at: new Date(),
      actor: null,
      snapshot: {
        layers: [{ index: 0, playbook: 'site.yml', url: 'https://git.example/a.git', commit: null }],
      },
    });
    type Row = Parameters<typeof startSessionWorkflow>[1];

    test('twice is once, and never again after an end from outside', async () => {
      const { client } = server.environment;
      const session = row({ 'muster.batch': 'b1' }) as unknown as Row;
      const handle = client.workflow.getHandle(sessionWorkflowId(session));
      await startSessionWorkflow(client, session);
      const { runId, typedSearchAttributes } = await handle.describe();
      expect(Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]))).toEqual({
        MusterConfiguration: 'compute',
        MusterTarget: 'dynamic',
        MusterStatus: 'pending',
        MusterBatch: 'b1',
      });
      await startSessionWorkflow(client, session);
      expect((await handle.describe()).runId).toBe(runId);
      await handle.terminate();
      await startSessionWorkflow(client, session);
      expect(await handle.describe()).toMatchObject({ runId, status: { name: 'TERMINATED' } });
    });
  });

  test('every history of these tests replays', async () => {
    expect(await bench.replayAll()).toBeGreaterThan(7);
  });
});
