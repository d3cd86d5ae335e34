/** Shell actions whose templates nothing fills in: their nodes say so, and those end that nothing but an operator can help. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { abortPlan, retryPlan } from '../../../control/propagation/command-plan.ts';
import type { Evaluator } from '../../../domain/propagation/ports.ts';
import { launcherMissing } from '../../support/ansible/local-runs.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { type BreakableEvaluator, breakableEvaluator } from './breakable-evaluator.ts';
import { openShellPlans, type ShellBench } from './shell-bench.ts';

const PAUSE_MS = 50;
/** Longer than any test lasts: nothing but an abort ends it. */
const ENDLESS_MS = 600_000;

describeNeeding(launcherMissing(), 'a shell action without an evaluator', () => {
  let dir: string;
  let broken: BreakableEvaluator;
  let shell: ShellBench;
  let pauses: number[];
  /** What the evaluator waits for before it is asked again after it failed. */
  let again: Promise<void>;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-lack-'));
    broken = breakableEvaluator(dir);
    pauses = [PAUSE_MS];
    again = Promise.resolve();
    let hasFailed = false;
    const evaluator: Evaluator = {
      ...broken.evaluator,
      render: async (...given) => {
        if (hasFailed) await again;
        return broken.evaluator.render(...given).catch((error: unknown) => {
          hasFailed = true;
          throw error;
        });
      },
    };
    shell = await openShellPlans({ instead: { evaluator }, startPauses: pauses });
  });
  afterEach(async () => {
    await broken.evaluator.stop();
    await shell.close();
    await rm(dir, { recursive: true, force: true });
  });
  const nodeOf = async (plan: string) => (await shell.nodes(plan))[0];
  const reasonOf = async (plan: string) => (await nodeOf(plan))?.reason ?? null;
  const openAttempt = async (plan: string) => {
    await shell.start(plan);
    for (;;) {
      const [open] = (await shell.advance(plan)).attempts;
      if (open !== undefined) return open.attempt;
    }
  };

  test('is an error after some tries, which its node tells of, and runs when the plan is tried again', async () => {
    const told = Promise.withResolvers<void>();
    again = told.promise;
    const { id } = await shell.action('echo {{ action }}');
    const over = shell.execute(id);
    await eventually('the reason', async () => (await reasonOf(id)) !== null);
    expect(await reasonOf(id)).toMatch(/^try 1 of 2 failed: templates cannot be filled in.*mend the Python/);
    told.resolve();
    expect((await over).state).toBe('failed');
    expect(await nodeOf(id)).toMatchObject({
      ...{ status: 'error', outcome: 'error', code: 'evaluator_failed', attempts: 1, reason: null },
      message: expect.stringMatching(/mend the Python of the worker.*ENOENT/),
    });
    expect(await shell.db.selectFrom('propagation_leases').selectAll().execute()).toEqual([]);
    // Nothing was written for it, or nothing of that is left.
    const left = await readdir(shell.runs.runsDir, { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => entry.isFile())).toEqual([]);

    await broken.mend();
    await retryPlan(shell.deps, id);
    expect((await shell.goOn(id)).state).toBe('succeeded');
    expect(await nodeOf(id)).toMatchObject({ attempts: 2, outcome: 'created', code: null, message: null });
  });

  test('whose program is there again before the last try runs in the same attempt', async () => {
    const mended = Promise.withResolvers<void>();
    again = mended.promise;
    const { id } = await shell.action('true');
    const over = shell.execute(id);
    await eventually('the reason', async () => (await reasonOf(id)) !== null);
    await broken.mend();
    mended.resolve();
    expect((await over).state).toBe('succeeded');
    expect(await nodeOf(id)).toMatchObject({ attempts: 1, outcome: 'created', reason: null });
  });

  test('is cancelled when its plan is aborted between the tries', async () => {
    pauses[0] = ENDLESS_MS;
    const { id } = await shell.action('true');
    const attempt = await openAttempt(id);
    const over = shell.bring(id, attempt);
    await eventually('the reason', async () => (await reasonOf(id)) !== null);
    await abortPlan(shell.deps, id);
    await shell.advance(id, [attempt]);
    await over;
    await shell.goOn(id);
    expect(await nodeOf(id)).toMatchObject({
      ...{ outcome: 'error', code: 'cancelled', message: 'Cancelled', attempts: 1, reason: null },
    });
    expect(await shell.db.selectFrom('propagation_leases').selectAll().execute()).toEqual([]);
  });

  test('for want of memory goes on until it can, and its node says so', async () => {
    await broken.starve();
    const { id } = await shell.action('true');
    const attempt = await openAttempt(id);
    for (let look = 0; look < 2; look += 1) {
      await expect(shell.bring(id, attempt)).rejects.toMatchObject({ code: 'evaluator_unavailable' });
      expect(await nodeOf(id)).toMatchObject({
        ...{ status: 'in_progress', outcome: null, attempts: 1 },
        reason: expect.stringMatching(
          /^is tried again until it can go on \(evaluator_unavailable\): .*too little memory/,
        ),
      });
    }
    await broken.mend();
    await shell.bring(id, attempt);
    expect((await shell.goOn(id)).state).toBe('succeeded');
    expect(await nodeOf(id)).toMatchObject({ attempts: 1, outcome: 'created', reason: null });
  });

  test('for want of memory ends when its plan is aborted', async () => {
    await broken.starve();
    const { id } = await shell.action('true');
    const attempt = await openAttempt(id);
    await expect(shell.bring(id, attempt)).rejects.toMatchObject({ code: 'evaluator_unavailable' });
    await abortPlan(shell.deps, id);
    await shell.advance(id);
    await shell.bring(id, attempt);
    await shell.goOn(id);
    expect(await nodeOf(id)).toMatchObject({ outcome: 'error', code: 'cancelled', reason: null });
  });

  test('says that it is tried again after a failure that nothing expected', async () => {
    const { id } = await shell.action('true');
    const attempt = await openAttempt(id);
    const end = shell.attemptRuns.run;
    shell.attemptRuns.run = async () => {
      throw new Error('a detail of the program');
    };
    await expect(shell.bring(id, attempt)).rejects.toThrow('a detail of the program');
    expect(await reasonOf(id)).toBe('is tried again after an unexpected failure, which the log of the worker tells');
    shell.attemptRuns.run = end;
    await broken.mend();
    await shell.bring(id, attempt);
    expect((await shell.goOn(id)).state).toBe('succeeded');
  });
});
