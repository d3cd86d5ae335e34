import { expect, test } from '@jest/globals';
import { WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { cancelSession } from '../../../workflows/sessions/messages.ts';
import { admitted, endlessRuns, endlessWork, gate, layerOutcome, waiting } from '../../support/fakes/fake-session.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { benchOfBlock } from '../../support/stack/bench-of-block.ts';
import type { SessionUnderTest } from '../../support/stack/session-bench.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer } from '../../support/temporal/workflow-environment.ts';

const BY_ALICE = { succeeded: 'false', message: 'cancelled by alice', reason: 'cancelled' };

const cancel = (session: SessionUnderTest, reason = 'cancelled by alice') =>
  session.handle.executeUpdate(cancelSession, { args: [{ reason }] });

describeNeeding(temporalMissing(), 'cancel of a session', () => {
  const { bench } = benchOfBlock(openDevServer);

  test('in line: ends at once, nothing was done', async () => {
    const session = await bench.start({ admitSession: async () => waiting(86_400) });
    await session.inLine();
    await cancel(session);
    await session.inPhase('done');
    expect(session.fake.names()).toEqual(['admitSession', 'recordEnd']);
    expect(session.fake.end()).toEqual(BY_ALICE);
  });

  test('in line, known from the record before the workflow hears of it', async () => {
    const session = await bench.start({
      admitSession: async () => ({ state: 'cancelled', reason: 'cancelled by alice' }),
    });
    await session.result();
    expect(session.fake.names()).toEqual(['admitSession', 'recordEnd']);
    expect(session.fake.end()).toEqual(BY_ALICE);
  });

  test('while it is admitted: nothing runs', async () => {
    const asking = gate();
    const session = await bench.start({
      admitSession: async () => {
        await asking.pass();
        return admitted();
      },
    });
    await asking.reached;
    const answer = cancel(session);
    asking.open();
    await answer;
    await session.result();
    expect(session.fake.names()).not.toContain('runLayer');
    expect(session.fake.end()).toEqual(BY_ALICE);
  });

  test('in the clone: the activity sees it, nothing runs', async () => {
    const clone = endlessWork();
    const session = await bench.start({ cloneLayers: clone.run });
    await clone.begun;
    await cancel(session);
    await session.result();
    expect(clone.cancelled()).toBe(true);
    expect(session.fake.names()).toEqual(['admitSession', 'cloneLayers', 'recordEnd']);
    expect(session.fake.end()).toEqual(BY_ALICE);
  });

  test('in a clone that is done before it hears of it: the workspace goes', async () => {
    const clone = gate();
    const session = await bench.start({
      cloneLayers: async () => {
        await clone.pass();
        return { hostQueue: bench.queue };
      },
    });
    await clone.reached;
    await cancel(session);
    clone.open();
    await session.result();
    expect(session.fake.names()).toEqual(['admitSession', 'cloneLayers', 'removeWorkspace', 'recordEnd']);
    expect(session.fake.end()).toEqual(BY_ALICE);
  });

  test('in a clone that fails at that moment: cancelled all the same', async () => {
    const clone = gate();
    const session = await bench.start({
      cloneLayers: async () => {
        await clone.pass();
        throw ApplicationFailure.nonRetryable('killed', 'clone_failed');
      },
    });
    await clone.reached;
    await cancel(session);
    clone.open();
    await session.result();
    expect(session.fake.end()).toEqual(BY_ALICE);
  });

  test('in the inventory: the activity sees it, no layer runs, the workspace goes', async () => {
    const inventory = endlessWork();
    const session = await bench.start({ writeInventory: inventory.run });
    await inventory.begun;
    await cancel(session);
    await session.result();
    expect(inventory.cancelled()).toBe(true);
    expect(session.fake.names()).toEqual([
      'admitSession',
      'cloneLayers',
      'writeInventory',
      'removeWorkspace',
      'recordEnd',
    ]);
    expect(session.fake.end()).toEqual(BY_ALICE);
  });

  test('in a run: exactly that run is ended, its watch is awaited, what hosts reached is recorded', async () => {
    const runs = endlessRuns();
    const session = await bench.start({
      admitSession: async () => admitted({ layers: [0, 3, 5], debugOnFailure: true }),
      runLayer: (input) => (input.layer === 3 ? runs.runLayer(input) : Promise.resolve(layerOutcome(input.layer, 0))),
      endRun: runs.endRun,
    });
    await runs.begun;
    await cancel(session);
    await session.result();
    expect(session.fake.inputs('endRun')).toEqual([{ layer: 3, attempt: 1 }]);
    expect(session.fake.names().slice(-6)).toEqual([
      'recordLayer',
      'runLayer',
      'endRun',
      'recordLayer',
      'removeWorkspace',
      'recordEnd',
    ]);
    expect(session.fake.inputs('recordLayer')).toEqual([
      { layer: 0, attempt: 1 },
      { layer: 3, attempt: 1 },
    ]);
    expect(session.fake.end()).toEqual(BY_ALICE);
    const { events } = await session.handle.fetchHistory();
    expect((events ?? []).filter((event) => event.activityTaskCancelRequestedEventAttributes)).toEqual([]);
  });

  test('in a run that cannot be ended at first: ended when it can be', async () => {
    const runs = endlessRuns();
    let tries = 0;
    const session = await bench.start({
      runLayer: runs.runLayer,
      endRun: async (run) => {
        tries += 1;
        if (tries < 3) throw new Error('no process table');
        await runs.endRun(run);
      },
    });
    await runs.begun;
    await cancel(session);
    await session.result();
    expect(tries).toBe(3);
    expect(session.fake.end()).toEqual(BY_ALICE);
  });

  test('while a layer is recorded: the next layer does not get far', async () => {
    const recording = gate();
    const runs = endlessRuns();
    const session = await bench.start({
      admitSession: async () => admitted({ layers: [0, 1] }),
      runLayer: (input) => (input.layer === 0 ? Promise.resolve(layerOutcome(0, 0)) : runs.runLayer(input)),
      endRun: runs.endRun,
      recordLayer: async ({ layer }) => {
        if (layer === 0) await recording.pass();
        return null;
      },
    });
    await recording.reached;
    const answer = cancel(session);
    recording.open();
    await answer;
    await session.result();
    // The workflow hears of it when the local activity is done; by then it may have asked for the next run.
    expect(session.fake.inputs('endRun')).toHaveLength(session.fake.inputs('runLayer').length - 1);
    expect(session.fake.end()).toEqual(BY_ALICE);
  });

  test('in the hold: ends with the reason of the cancel', async () => {
    const session = await bench.start({
      admitSession: async () => admitted({ debugOnFailure: true, layers: [0, 1] }),
      runLayer: async ({ layer }) => layerOutcome(layer, 2),
    });
    await session.inPhase('hold');
    await cancel(session);
    await session.result();
    expect(session.fake.inputs('runLayer')).toHaveLength(1);
    expect(session.fake.names()).not.toContain('endRun');
    expect(session.fake.end()).toEqual(BY_ALICE);
  });

  test('while it waits for components: its workspace is removed', async () => {
    const session = await bench.start({
      writeInventory: async () => ({ leases: true }),
      takeLeases: async () => ({ state: 'waiting', message: 'other has 2', retrySeconds: 86_400 }),
    });
    await session.inPhase('lease');
    await cancel(session);
    expect(await session.result()).toEqual({ state: 'cancelled' });
    expect(session.fake.end()).toEqual(BY_ALICE);
    expect(session.fake.names()).not.toContain('runLayer');
    expect(session.fake.names()).toContain('removeWorkspace');
  });

  test('in the teardown: too late, the outcome stays', async () => {
    const removal = gate();
    const session = await bench.start({ removeWorkspace: () => removal.pass() });
    await removal.reached;
    await cancel(session);
    removal.open();
    await session.result();
    expect(session.fake.end()).toMatchObject({ succeeded: 'true', reason: null });
  });

  test('twice: the first reason counts, the run is ended once', async () => {
    const runs = endlessRuns();
    const ending = gate();
    const session = await bench.start({
      runLayer: runs.runLayer,
      endRun: async (run) => {
        await ending.pass();
        await runs.endRun(run);
      },
    });
    await runs.begun;
    await cancel(session);
    await ending.reached;
    await cancel(session, 'cancelled by bob');
    ending.open();
    await session.result();
    expect(session.fake.inputs('endRun')).toHaveLength(1);
    expect(session.fake.end()).toEqual(BY_ALICE);
  });

  test('after the end: there is nothing to cancel', async () => {
    const session = await bench.start();
    await session.result();
    await expect(cancel(session)).rejects.toBeInstanceOf(WorkflowNotFoundError);
  });

  test("Temporal's own cancel ends a run as the command does", async () => {
    const runs = endlessRuns();
    const session = await bench.start(runs);
    await runs.begun;
    await session.handle.cancel();
    await session.inPhase('done');
    expect(session.fake.inputs('endRun')).toEqual([{ layer: 0, attempt: 1 }]);
    expect(session.fake.names().slice(-3)).toEqual(['recordLayer', 'removeWorkspace', 'recordEnd']);
    expect(session.fake.end()).toEqual({ succeeded: 'false', message: 'cancelled in Temporal', reason: 'cancelled' });
    expect(await session.result()).toEqual({ state: 'cancelled' });
    expect((await session.handle.describe()).status.name).toBe('CANCELLED');
  });

  test("Temporal's own cancel of a session in line", async () => {
    const session = await bench.start({ admitSession: async () => waiting(86_400) });
    await session.inLine();
    await session.handle.cancel();
    await session.inPhase('done');
    expect(session.fake.end()).toMatchObject({ succeeded: 'false', reason: 'cancelled' });
  });

  test('every history of these tests replays', async () => {
    expect(await bench.replayAll()).toBeGreaterThan(15);
  });
});
