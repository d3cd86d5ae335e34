/** Attempts as runs of the real launcher: once, followed to their end, ended when that is asked for. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { ActionHandler } from '../../../activities/propagation/action-handler.ts';
import { createAttemptRuns } from '../../../activities/propagation/attempt-runs.ts';
import { runAttempt } from '../../../activities/propagation/run-attempt.ts';
import { attemptOwner } from '../../../control/propagation/attempt-owner.ts';
import { abortPlan } from '../../../control/propagation/command-plan.ts';
import { cleanMachine } from '../../../control/runs/clean-machine.ts';
import { shellOutcome } from '../../../domain/propagation/attempt-outcome.ts';
import { runIdOfOwner } from '../../../domain/runs/owner.ts';
import type { Runner } from '../../../domain/runs/runner.ts';
import { claimAttempt } from '../../../store/propagation/plan-attempts.ts';
import { type LocalRuns, launcherMissing, openLocalRuns } from '../../support/ansible/local-runs.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { openPlans, type PlanBench } from './plan-bench.ts';

const HOST = 'attempt-machine';

describeNeeding(launcherMissing(), 'an attempt', () => {
  let runs: LocalRuns;
  let plans: PlanBench;
  let started: string[] = [];
  let cleared: string[] = [];
  let script = 'true';

  beforeAll(async () => {
    runs = await openLocalRuns();
  });
  afterAll(() => runs.close());
  beforeEach(async () => {
    plans = await openPlans();
    [started, cleared, script] = [[], [], 'true'];
  });
  afterEach(() => plans.close());

  const handler: ActionHandler = {
    prepare: async ({ id }, _node, runId) => {
      started.push(id);
      return runs.script(script, { runId });
    },
    result: async (_attempt, { rules }, { exitCode }) => ({
      outcome: shellOutcome(exitCode, rules.outcomes, ''),
      message: `exit status ${exitCode}`,
      verified: true,
    }),
    clear: async ({ id }) => void cleared.push(id),
  };
  const never = new AbortController().signal;
  const bring = (plan: string, attempt: string, { hostId = HOST, signal = never, runner = runs.runner } = {}) => {
    const attempts = createAttemptRuns({
      ...plans.deps,
      runner,
      hostId,
      handlers: { ansible_playbook: handler },
      startPauses: [],
    });
    return runAttempt({ ...plans.deps, hostId, attempts }, { plan, attempt }, signal);
  };

  async function admitted(rules: object = {}): Promise<{ plan: string; attempt: string }> {
    await plans.work(['a']);
    const { id: plan } = await plans.process();
    const known = (await plans.nodes(plan))[0]?.rules;
    await plans.db
      .updateTable('propagation_plan_nodes')
      .set({ rules: JSON.stringify({ ...known, ...rules }) })
      .where('plan', '=', plan)
      .execute();
    await plans.start(plan);
    const [open] = (await plans.advance(plan)).attempts;
    return { plan, attempt: open?.attempt ?? '' };
  }
  const nodeOf = async (plan: string) => {
    await plans.finish(plan);
    return (await plans.nodes(plan))[0];
  };

  test('is run once, whoever watches it, and ends with the outcome of its exit status', async () => {
    const { plan, attempt } = await admitted({ outcomes: { 10: 'ok' } });
    script = 'sleep 1; exit 10';
    expect(await Promise.all([bring(plan, attempt), bring(plan, attempt)])).toEqual(['ended', 'ended']);
    expect(await bring(plan, attempt)).toBe('ended');
    const run = runIdOfOwner({ kind: 'attempt', id: attempt }, 1);
    const rows = await plans.db.selectFrom('runs').selectAll().execute();
    expect(rows).toMatchObject([{ id: run, owner_kind: 'attempt', owner_id: attempt, state: 'ended', exit_code: 10 }]);
    expect(await nodeOf(plan)).toMatchObject({ status: 'success', outcome: 'ok', message: 'exit status 10' });
    expect(cleared).toContain(attempt);
    expect(await attemptOwner(plans.db).open([attempt])).toEqual(new Set());
  });

  test('that fails has failed', async () => {
    const { plan, attempt } = await admitted();
    script = 'exit 3';
    await bring(plan, attempt);
    expect(await nodeOf(plan)).toMatchObject({ status: 'error', outcome: 'failed', message: 'exit status 3' });
  });

  test('is for the machine that has its files alone', async () => {
    const { plan, attempt } = await admitted();
    await bring(plan, attempt, { hostId: 'first' });
    const second = await admittedAgain(plan);
    expect(second).toBeNull();
    await plans.db.updateTable('propagation_attempts').set({ state: 'open' }).execute();
    expect(await bring(plan, attempt, { hostId: 'second' })).toBe('elsewhere');
    expect(await bring('00000000-0000-4000-8000-000000000000', attempt)).toBe('ended');
  });
  const admittedAgain = async (plan: string) => (await plans.advance(plan)).attempts[0] ?? null;

  test('goes on when its watcher is let go, and the next one follows it', async () => {
    const { plan, attempt } = await admitted();
    const go = join(runs.runsDir, '..', 'go');
    script = `until [ -e '${go}' ]; do sleep 0.05; done`;
    const letGo = new AbortController();
    const first = bring(plan, attempt, { signal: letGo.signal });
    first.catch(() => undefined);
    await eventually('it runs', async () => (await plans.attempts(plan))[0]?.started_at !== null);
    letGo.abort();
    await expect(first).rejects.toThrow();
    await writeFile(go, '');
    await bring(plan, attempt);
    expect(started).toEqual([attempt]);
    expect(await nodeOf(plan)).toMatchObject({ status: 'success' });
  });

  test('is ended by an abort, also when it traps the signal', async () => {
    const { plan, attempt } = await admitted();
    script = 'trap "" TERM; sleep 600 & wait; sleep 600';
    const watcher = bring(plan, attempt);
    await eventually('it runs', async () => (await plans.attempts(plan))[0]?.started_at !== null);
    await abortPlan(plans.deps, plan);
    await plans.advance(plan, [attempt]);
    await watcher;
    expect(await nodeOf(plan)).toMatchObject({ status: 'error', outcome: 'error', code: 'cancelled' });
    expect(await runs.runner.live()).not.toContain(runIdOfOwner({ kind: 'attempt', id: attempt }, 1));
  });

  test('that is aborted before it has begun never begins', async () => {
    const { plan, attempt } = await admitted();
    await abortPlan(plans.deps, plan);
    await plans.advance(plan, [attempt]);
    await bring(plan, attempt);
    expect(started).toEqual([]);
    expect(await nodeOf(plan)).toMatchObject({ code: 'cancelled', message: 'Cancelled' });
  });

  test('that is aborted while it waits for a free run never begins', async () => {
    const { plan, attempt } = await admitted();
    const runner = await runs.another(1);
    const other = runs.script('sleep 600');
    await runner.start(other, never, async () => undefined);
    const trace = join(runs.runsDir, '..', 'begun');
    script = `touch '${trace}'`;
    const watcher = bring(plan, attempt, { runner });
    await eventually('it waits', async () => {
      return (await plans.nodes(plan))[0]?.reason?.startsWith('waits for a free run: ') === true;
    });
    await abortPlan(plans.deps, plan);
    await plans.advance(plan, [attempt]);
    await watcher;
    expect(await nodeOf(plan)).toMatchObject({
      ...{ status: 'error', outcome: 'error', code: 'cancelled', message: 'Cancelled', reason: null },
    });
    await runner.end(other.runId);
    // A place is free now: a watcher that comes for the attempt finds that it may not begin.
    await bring(plan, attempt, { runner });
    expect(existsSync(trace)).toBe(false);
    expect(cleared).toContain(attempt);
    const rows = await plans.db.selectFrom('runs').select(['state', 'exit_code']).execute();
    expect(rows).toEqual([{ state: 'lost', exit_code: null }]);
    expect(await plans.db.selectFrom('propagation_leases').selectAll().execute()).toEqual([]);
  });

  test('that begins at the moment of its abort is ended', async () => {
    const { plan, attempt } = await admitted();
    script = 'sleep 600';
    const { start } = runs.runner;
    // The abort is heard while the launcher takes the run.
    const runner: Runner = {
      ...runs.runner,
      start: async (...given) => {
        await abortPlan(plans.deps, plan);
        await plans.advance(plan, [attempt]);
        await start(...given);
      },
    };
    await bring(plan, attempt, { runner });
    expect(await nodeOf(plan)).toMatchObject({ status: 'error', outcome: 'error', code: 'cancelled' });
    expect(await runs.runner.live()).not.toContain(runIdOfOwner({ kind: 'attempt', id: attempt }, 1));
  });

  test.each(['goes on', 'has never begun'])(
    'that was given up and %s keeps its leases until the clean-up of its machine confirms the end',
    async (how) => {
      const { plan, attempt } = await admitted();
      const runId = runIdOfOwner({ kind: 'attempt', id: attempt }, 1);
      script = 'sleep 600';
      const letGo = new AbortController();
      if (how === 'goes on') {
        const watcher = bring(plan, attempt, { signal: letGo.signal });
        watcher.catch(() => undefined);
        await eventually('it runs', async () => (await plans.attempts(plan))[0]?.started_at !== null);
        letGo.abort();
        await watcher.catch(() => undefined);
      } else await claimAttempt(plans.db, { plan, id: attempt }, HOST);
      await plans.advance(plan, [], [attempt]);
      plans.pass(600_000);
      expect(await plans.advance(plan, [], [attempt])).toMatchObject({ isOver: true });
      const leases = () => plans.db.selectFrom('propagation_leases').select('attempt').execute();
      expect(await leases()).toHaveLength(2);
      const owner = attemptOwner(plans.db);
      expect(await owner.unseen?.list('another machine')).toEqual([]);
      const cleaned = await cleanMachine({ ...plans.deps, runner: runs.runner, hostId: HOST, owners: [owner] });
      expect(cleaned).toMatchObject({ stopped: how === 'goes on' ? [runId] : [], problems: [] });
      expect(await leases()).toEqual([]);
      expect(await runs.runner.live()).not.toContain(runId);
      // A watcher that comes now starts nothing.
      await bring(plan, attempt);
      expect(started).toEqual(how === 'goes on' ? [attempt] : []);
      expect((await plans.attempts(plan))[0]).toMatchObject({ outcome: 'error', code: 'run_lost', verified: true });
    },
  );

  test('that was given up is asked after by each clean-up until nothing of it can be left', async () => {
    const { plan, attempt } = await admitted();
    await claimAttempt(plans.db, { plan, id: attempt }, HOST);
    await plans.advance(plan, [], [attempt]);
    plans.pass(600_000);
    await plans.advance(plan, [], [attempt]);
    const owners = [attemptOwner(plans.db)];
    const cleanUp = async (left: boolean) => {
      const runner = { ...runs.runner, mayHaveLeft: async () => left };
      await cleanMachine({ ...plans.deps, runner, hostId: HOST, owners });
      return plans.db.selectFrom('propagation_leases').select('attempt').execute();
    };
    expect(await cleanUp(true)).toHaveLength(2);
    expect(await cleanUp(true)).toHaveLength(2);
    expect(await cleanUp(false)).toEqual([]);
    expect((await plans.attempts(plan))[0]).toMatchObject({ verified: true });
  });

  test('is ended by its time limit', async () => {
    const { plan, attempt } = await admitted({ timelimit: 1 });
    script = 'sleep 600';
    await bring(plan, attempt);
    expect(await nodeOf(plan)).toMatchObject({ status: 'error', code: 'timelimit', message: 'ExecutionTimeout' });
  });
});
