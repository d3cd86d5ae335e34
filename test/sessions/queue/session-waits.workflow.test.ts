import { expect, test } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { eventually } from '../../support/eventually.ts';
import { admitted, layerOutcome, waiting } from '../../support/fakes/fake-session.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { benchOfBlock } from '../../support/stack/bench-of-block.ts';
import { testServerMissing } from '../../support/temporal/test-server.ts';
import { openTimeSkipping } from '../../support/temporal/workflow-environment.ts';

describeNeeding(testServerMissing(), 'what a session waits for', () => {
  const { bench, server } = benchOfBlock(openTimeSkipping);

  test('in line: asks again by itself after the time that it was told', async () => {
    let asked = 0;
    const session = await bench.start({ admitSession: async () => (++asked < 4 ? waiting(600) : admitted()) });
    const before = await server.environment.currentTimeMs();
    await session.result();
    expect(asked).toBeGreaterThanOrEqual(4);
    expect((await server.environment.currentTimeMs()) - before).toBeGreaterThanOrEqual(3 * 600_000);
    expect(session.fake.end().succeeded).toBe('true');
  });

  test('a clone that fails again and again ends the session with the last error', async () => {
    let tries = 0;
    const session = await bench.start({
      cloneLayers: async () => {
        tries += 1;
        throw ApplicationFailure.retryable(`failed ${tries} times`, 'clone_failed');
      },
    });
    await session.result();
    expect(tries).toBe(8);
    expect(session.fake.end()).toEqual({ succeeded: 'false', message: 'failed 8 times', reason: 'clone_failed' });
  });

  test('a hold ends by itself after debug_wait_time, as the failure says', async () => {
    const session = await bench.start({
      admitSession: async () => admitted({ layers: [0, 1], debugOnFailure: true, debugWaitSeconds: 86_400 }),
      runLayer: async ({ layer }) => layerOutcome(layer, 2),
    });
    const before = await server.environment.currentTimeMs();
    await session.result();
    expect((await server.environment.currentTimeMs()) - before).toBeGreaterThanOrEqual(86_400_000);
    expect(session.fake.inputs('runLayer')).toHaveLength(1);
    expect(session.fake.end()).toMatchObject({ succeeded: 'false', reason: 'layer_failed' });
  });

  test('session_timeout ends a run that takes longer', async () => {
    // Time stands still while an activity works, so the watch of this run fails again and again.
    let isEnded = false;
    const session = await bench.start({
      admitSession: async () => admitted({ timeoutSeconds: 600 }),
      runLayer: async ({ layer }) => {
        if (!isEnded) throw ApplicationFailure.retryable('away');
        return layerOutcome(layer, 143);
      },
      endRun: async () => {
        isEnded = true;
      },
    });
    const before = await server.environment.currentTimeMs();
    await session.result();
    expect((await server.environment.currentTimeMs()) - before).toBeGreaterThanOrEqual(600_000);
    expect(session.fake.inputs('endRun')).toHaveLength(1);
    expect(session.fake.end()).toEqual({
      succeeded: 'false',
      message: 'took longer than session_timeout (600 s)',
      reason: 'session_timeout',
    });
  });

  test('session_timeout counts in the hold too, and not after the end', async () => {
    const held = await bench.start({
      admitSession: async () => admitted({ debugOnFailure: true, debugWaitSeconds: 86_400, timeoutSeconds: 600 }),
      runLayer: async ({ layer }) => layerOutcome(layer, 2),
    });
    await held.result();
    expect(held.fake.end().reason).toBe('session_timeout');

    // Without waiting for the result time does not jump: the workflow ends long before its limit, not at it.
    const quick = await bench.start({ admitSession: async () => admitted({ timeoutSeconds: 86_400 }) });
    await eventually('it is over', async () => (await quick.handle.describe()).status.name === 'COMPLETED');
    expect(quick.fake.end().succeeded).toBe('true');
  });

  test('every history of these tests replays', async () => {
    expect(await bench.replayAll()).toBe(6);
  });
});
