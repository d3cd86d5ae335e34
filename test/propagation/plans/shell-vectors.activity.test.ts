/** The first row of every worked plan by real shell actions: each one starts once, and statuses are those of the simulation. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { simulate } from '../../../domain/propagation/simulate.ts';
import { launcherMissing } from '../../support/ansible/local-runs.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { LOOP_VECTORS } from '../rules/loop-vectors.ts';
import { PLAIN_VECTORS } from '../rules/vectors.ts';
import { openShellPlans, type ShellBench } from './shell-bench.ts';

describeNeeding(launcherMissing(), 'by shell', () => {
  let shell: ShellBench;
  beforeEach(async () => {
    shell = await openShellPlans();
  });
  afterEach(() => shell.close());

  /** A failure makes more ways than the first row, in which all goes well. */
  const rows = [...PLAIN_VECTORS, ...LOOP_VECTORS].flatMap((vector) => {
    const [first, ...more] = vector.runs;
    const failing = more.find(({ outcomes }) => Object.values(outcomes).some((one) => one === 'failed'));
    return [first, failing].flatMap((row) => (row === undefined ? [] : [{ ...row, vector, name: vector.name }]));
  });

  test.each(rows)(
    '$name, with $outcomes',
    async ({ vector, outcomes, statuses, result }) => {
      await shell.stageScripts(vector, outcomes);
      const { id } = await shell.process();
      const { state } = await shell.execute(id);
      expect(state).toBe(result);
      const actions = Object.fromEntries((vector.fixed ?? []).map((node) => [node, { repeatable: false }]));
      const simulated = simulate({ staged: vector.staged, events: vector.events, actions, outcomes });
      expect(await shell.statuses(id)).toEqual(simulated.run.statuses);
      expect(await shell.statuses(id)).toMatchObject(statuses);
      const ran = Object.entries(simulated.run.attempts).filter(([, count]) => count > 0);
      expect((await shell.journal()).sort()).toEqual(ran.map(([node]) => `${node} 1`).sort());
    },
    60_000,
  );
});
