import { expect, test } from '@jest/globals';
import { admitted, layerOutcome } from '../../support/fakes/fake-session.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { benchOfBlock } from '../../support/stack/bench-of-block.ts';
import { testServerMissing } from '../../support/temporal/test-server.ts';
import { openTimeSkipping } from '../../support/temporal/workflow-environment.ts';

describeNeeding(testServerMissing(), 'a session that only checks', () => {
  const { bench } = benchOfBlock(openTimeSkipping);

  const counts = (drifted: number, unclear: number) => async () => ({ hosts: 25, drifted, unclear });

  test('succeeds when everything was found out, and says how many drifted', async () => {
    const session = await bench.start({
      admitSession: async () => admitted({ layers: [0, 1], check: true }),
      recordLayer: counts(2, 0),
    });
    await session.result();
    expect(session.fake.end()).toEqual({ succeeded: 'true', message: '2 of 25 drifted', reason: null });
  });

  test('looks at later layers though an earlier one failed on some hosts', async () => {
    const session = await bench.start({
      admitSession: async () => admitted({ layers: [0, 1, 2], check: true }),
      runLayer: async ({ layer }) => layerOutcome(layer, layer === 0 ? 2 : 0),
      recordLayer: counts(2, 1),
    });
    await session.result();
    expect(session.fake.inputs('runLayer')).toHaveLength(3);
    expect(session.fake.end()).toMatchObject({ succeeded: 'false', reason: 'layer_failed' });
    expect(session.fake.end().message).toMatch(/^2 of 25 drifted, 1 could not be checked: layer 1 /);
  });

  test('ends with a run that was lost', async () => {
    const session = await bench.start({
      admitSession: async () => admitted({ layers: [0, 1], check: true }),
      runLayer: async ({ layer }) => layerOutcome(layer, null),
      recordLayer: counts(0, 0),
    });
    await session.result();
    expect(session.fake.inputs('runLayer')).toHaveLength(1);
    expect(session.fake.end()).toMatchObject({ succeeded: 'unknown', reason: 'run_lost' });
  });

  test('a session that checks nothing stops at the first layer that fails, whatever is counted', async () => {
    const session = await bench.start({
      admitSession: async () => admitted({ layers: [0, 1] }),
      runLayer: async ({ layer }) => layerOutcome(layer, 2),
      recordLayer: counts(0, 0),
    });
    await session.result();
    expect(session.fake.inputs('runLayer')).toHaveLength(1);
    expect(session.fake.end().message).toMatch(/^layer 1 /);
  });
});
