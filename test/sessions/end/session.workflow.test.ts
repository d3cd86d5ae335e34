import { expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { eventually } from '../../support/eventually.ts';
import { admitted, gate, layerOutcome, waiting } from '../../support/fakes/fake-session.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { benchOfBlock } from '../../support/stack/bench-of-block.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer } from '../../support/temporal/workflow-environment.ts';

describeNeeding(temporalMissing(), 'session workflow', () => {
  const { bench } = benchOfBlock(openDevServer);

  const STEPS_OF_ONE_LAYER = [
    'admitSession',
    'cloneLayers',
    'writeInventory',
    'runLayer',
    'recordLayer',
    'removeWorkspace',
    'recordEnd',
  ];

  test('one layer: every step once, in order, each told which session', async () => {
    const session = await bench.start();
    await session.result();
    expect(session.fake.names()).toEqual(STEPS_OF_ONE_LAYER);
    for (const { input } of session.fake.calls) expect(input.sessionId).toBe(session.sessionId);
    expect(session.fake.inputs('runLayer')).toEqual([{ layer: 0, attempt: 1, hosts: 'all' }]);
    expect(session.fake.inputs('recordLayer')).toEqual([{ layer: 0, attempt: 1 }]);
    expect(session.fake.end()).toEqual({ succeeded: 'true', message: '1 layer done on 3 hosts', reason: null });
  });

  test('layers run one after the other in the order of the plan, each recorded before the next begins', async () => {
    const session = await bench.start({ admitSession: async () => admitted({ layers: [4, 0, 2] }) });
    await session.result();
    const steps = session.fake.calls
      .filter(({ name }) => name === 'runLayer' || name === 'recordLayer')
      .map(({ name, input }) => `${name} ${input.layer}`);
    expect(steps).toEqual([4, 0, 2].flatMap((layer) => [`runLayer ${layer}`, `recordLayer ${layer}`]));
    expect(session.fake.end().message).toBe('3 layers done on 3 hosts');
  });

  test('work on the disk goes to the machine that made the workspace', async () => {
    const session = await bench.start();
    await session.result();
    const { events } = await session.handle.fetchHistory();
    const queues = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
      scheduled ? [[scheduled.activityType?.name, scheduled.taskQueue?.name]] : [],
    );
    expect(queues).toEqual(
      ['cloneLayers', 'writeInventory', 'runLayer', 'removeWorkspace'].map((name) => [name, bench.queue]),
    );
  });

  test('no layer selected: ends without touching a disk', async () => {
    const session = await bench.start({ admitSession: async () => admitted({ layers: [] }) });
    await session.result();
    expect(session.fake.names()).toEqual(['admitSession', 'recordEnd']);
    expect(session.fake.end()).toMatchObject({ succeeded: 'false', reason: 'no_layer_selected' });
  });

  test('a debugging playbook runs as layer 0 of a configuration without layers', async () => {
    const session = await bench.start({ admitSession: async () => admitted({ layers: [], debug: true }) });
    await session.result();
    expect(session.fake.names()).toEqual(STEPS_OF_ONE_LAYER);
    expect(session.fake.inputs('runLayer')).toEqual([{ layer: 0, attempt: 1, hosts: 'all' }]);
  });

  test('a record that is gone or over: nothing is done, nothing is written', async () => {
    const session = await bench.start({ admitSession: async () => ({ state: 'over' }) });
    await session.result();
    expect(session.fake.names()).toEqual(['admitSession']);
    expect((await session.progress()).phase).toBe('done');
  });

  test('in line: asks again when told that a slot is free', async () => {
    let asked = 0;
    let free = false;
    const session = await bench.start({
      admitSession: async () => {
        asked += 1;
        return free ? admitted() : waiting(86_400);
      },
    });
    expect((await session.inLine()).phase).toBe('queued');
    const before = asked;
    await session.handle.signal('slotFree');
    await eventually('it has asked again', () => asked > before);
    await session.inLine();
    expect(session.fake.names()).toEqual(['admitSession']);
    free = true;
    await session.handle.signal('slotFree');
    await session.inPhase('done');
    expect(session.fake.end().succeeded).toBe('true');
  });

  test('a signal that comes while the session asks is not lost', async () => {
    const asking = gate();
    let asked = 0;
    const session = await bench.start({
      admitSession: async () => {
        asked += 1;
        if (asked > 1) return admitted();
        await asking.pass();
        return waiting(86_400);
      },
    });
    await asking.reached;
    await session.handle.signal('slotFree');
    asking.open();
    await session.inPhase('done');
    expect(asked).toBeGreaterThanOrEqual(2);
  });

  test('a clone that the rules refuse ends the session with the reason; nothing runs', async () => {
    const session = await bench.start({
      cloneLayers: async () => {
        throw ApplicationFailure.nonRetryable('layer 0: no commit abc', 'commit_not_found');
      },
    });
    await session.result();
    expect(session.fake.names()).toEqual(['admitSession', 'cloneLayers', 'recordEnd']);
    expect(session.fake.end()).toEqual({
      succeeded: 'false',
      message: 'layer 0: no commit abc',
      reason: 'commit_not_found',
    });
  });

  test('a clone that fails for the moment is tried again', async () => {
    let tries = 0;
    const session = await bench.start({
      cloneLayers: async () => {
        tries += 1;
        if (tries < 3) throw ApplicationFailure.retryable('connection reset', 'clone_failed');
        return { hostQueue: bench.queue };
      },
    });
    await session.result();
    expect(session.fake.names().filter((name) => name === 'cloneLayers')).toHaveLength(3);
    expect(session.fake.end().succeeded).toBe('true');
  });

  test('an inventory without a host ends the session; the workspace goes', async () => {
    const session = await bench.start({
      writeInventory: async () => {
        throw ApplicationFailure.nonRetryable('The inventory has no host', 'inventory_empty');
      },
    });
    await session.result();
    expect(session.fake.names().slice(-3)).toEqual(['writeInventory', 'removeWorkspace', 'recordEnd']);
    expect(session.fake.end()).toMatchObject({ succeeded: 'false', reason: 'inventory_empty' });
  });

  test('a run that cannot be started ends the session with the reason', async () => {
    const session = await bench.start({
      runLayer: async () => {
        throw ApplicationFailure.nonRetryable('layer 0: there is no playbook x.yml', 'playbook_missing');
      },
    });
    await session.result();
    expect(session.fake.names()).not.toContain('recordLayer');
    expect(session.fake.names().slice(-2)).toEqual(['removeWorkspace', 'recordEnd']);
    expect(session.fake.end()).toMatchObject({ succeeded: 'false', reason: 'playbook_missing' });
  });

  test('a layer that fails is recorded, and those after it do not run', async () => {
    const session = await bench.start({
      admitSession: async () => admitted({ layers: [0, 1, 2] }),
      runLayer: async ({ layer }) => layerOutcome(layer, layer === 1 ? 2 : 0),
    });
    await session.result();
    expect(session.fake.inputs('runLayer').map(({ layer }) => layer)).toEqual([0, 1]);
    expect(session.fake.inputs('recordLayer').map(({ layer }) => layer)).toEqual([0, 1]);
    expect(session.fake.end()).toEqual({
      succeeded: 'false',
      message: 'layer 2 site.yml failed: 1 of 3 hosts failed, exit status 2',
      reason: 'layer_failed',
    });
  });

  test('a lost run: unknown, not held and not started again', async () => {
    const session = await bench.start({
      admitSession: async () => admitted({ layers: [0, 1], debugOnFailure: true }),
      runLayer: async ({ layer }) => layerOutcome(layer, null),
    });
    await session.result();
    expect(session.fake.inputs('runLayer')).toHaveLength(1);
    expect(session.fake.inputs('recordHold')).toEqual([]);
    expect(session.fake.end()).toMatchObject({ succeeded: 'unknown', reason: 'run_lost' });
  });

  test('a workspace that cannot be removed does not keep the session from ending', async () => {
    const session = await bench.start({
      removeWorkspace: async () => {
        throw ApplicationFailure.nonRetryable('device busy', 'internal');
      },
    });
    await session.result();
    expect(session.fake.end().succeeded).toBe('true');
  });

  test('a database that is away for a moment delays the end, no more', async () => {
    let tries = 0;
    const session = await bench.start({
      recordEnd: async () => {
        tries += 1;
        if (tries < 4) throw new Error('connection refused');
        return null;
      },
    });
    await session.result();
    expect(tries).toBeGreaterThanOrEqual(4);
    expect((await session.handle.describe()).status.name).toBe('COMPLETED');
  });

  test('says what it is doing to whom asks the workflow alone', async () => {
    const [cloning, writing, running, removing] = [gate(), gate(), gate(), gate()];
    const session = await bench.start({
      admitSession: async () => admitted({ layers: [7] }),
      cloneLayers: async () => {
        await cloning.pass();
        return { hostQueue: bench.queue };
      },
      writeInventory: async () => {
        await writing.pass();
        return { leases: false };
      },
      runLayer: async ({ layer }) => {
        await running.pass();
        return layerOutcome(layer, 0);
      },
      removeWorkspace: () => removing.pass(),
    });
    const seen = [];
    for (const step of [cloning, writing, running, removing]) {
      await step.reached;
      seen.push(await session.progress());
      step.open();
    }
    await session.result();
    seen.push(await session.progress());
    expect(seen.map(({ phase, layer }) => [phase, layer])).toEqual([
      ['clone', null],
      ['inventory', null],
      ['layer', 7],
      ['teardown', 7],
      ['done', 7],
    ]);
    for (const { message } of seen) expect(message).not.toBe('');
  });

  test('every history of these tests replays', async () => {
    expect(await bench.replayAll()).toBeGreaterThan(15);
  });
});
