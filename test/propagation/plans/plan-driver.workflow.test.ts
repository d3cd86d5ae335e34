/** Worked plans through the real driver, its real steps on Postgres, and a runner that only says how attempts end. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createAttemptActivities, createPlanActivities } from '../../../activities/propagation/activities.ts';
import { stopPlan } from '../../../control/propagation/command-plan.ts';
import { followLeases, pokedPlan, sweepPlans } from '../../../control/propagation/wake-plans.ts';
import { createTell, tellOrThrow } from '../../../control/temporal/tell.ts';
import { hostQueueOf, MAIN_QUEUE } from '../../../domain/engine/task-queues.ts';
import { parseEvents } from '../../../domain/propagation/event-text.ts';
import { givenFor, resourceOf } from '../../../domain/propagation/node-id.ts';
import { simulate } from '../../../domain/propagation/simulate.ts';
import { planWorkflowId } from '../../../domain/propagation/workflow-id.ts';
import type { AttemptRow } from '../../../store/propagation/plan-tables.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { replayHistories, startTestWorker } from '../../support/stack/session-bench.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../../support/temporal/workflow-environment.ts';
import { LOOP_VECTORS } from '../rules/loop-vectors.ts';
import { PLAIN_VECTORS, type PlanVector } from '../rules/vectors.ts';
import { type Outcomes, openPlans, type PlanBench } from './plan-bench.ts';

const HOST = 'plan-driver-disk';

describeNeeding(temporalMissing(), 'a plan with its driver', () => {
  let server: TestServer;
  let plans: PlanBench;
  let stops: (() => Promise<void>)[] = [];
  let outcomes: Outcomes = {};
  /** Ids of attempts, each as often as the runner was asked for it. */
  let asked: string[] = [];
  /** Attempts that go on until they are let go. */
  let held: Promise<void> | null = null;
  let meanwhile: () => Promise<void> = async () => undefined;

  beforeAll(async () => {
    server = await openDevServer(['limit.historyCount.suggestContinueAsNew=100']);
  });
  afterAll(() => server?.close());

  const log = { info: () => undefined, warn: () => undefined };
  const run = async ({ id, plan, node }: AttemptRow) => {
    asked.push(id);
    await held;
    await meanwhile();
    const row = (await plans.nodes(plan)).find(({ number }) => number === node);
    return { outcome: (row && givenFor(outcomes, row)) ?? ('changed' as const), verified: true };
  };

  async function startWorkers({ environment }: Pick<TestServer, 'environment'> = server): Promise<void> {
    const attempts = createAttemptActivities({ ...plans.deps, hostId: HOST, attempts: { run } });
    stops = [
      await startTestWorker(environment, {
        taskQueue: MAIN_QUEUE,
        workflowBundle: await workflowBundle(),
        activities: { ...createPlanActivities(plans.deps), ...attempts },
      }),
      await startTestWorker(environment, { taskQueue: hostQueueOf(HOST), activities: { ...attempts } }),
    ];
  }
  const stopWorkers = async () => {
    for (const stop of stops.splice(0)) await stop();
  };

  beforeEach(async () => {
    plans = await openPlans();
    [outcomes, asked, held] = [{}, [], null];
    meanwhile = async () => undefined;
    await startWorkers();
  });
  afterEach(async () => {
    await stopWorkers();
    await plans.close();
  });

  const handleOf = (plan: string) => server.environment.client.workflow.getHandle(planWorkflowId(plan));
  const drive = async (plan: string) => {
    await plans.start(plan);
    await tellOrThrow(server.environment.client, pokedPlan(plan));
  };
  const endOf = async (plan: string) => {
    await handleOf(plan).result();
    return (await plans.plan(plan)).state;
  };

  async function stage({ staged, events, fixed = [] }: PlanVector): Promise<void> {
    const named = parseEvents(events).flatMap(({ parent, child }) => [parent, child]);
    const once = new Set(fixed.map(resourceOf));
    await plans.work([...new Set([...staged, ...named].map(resourceOf))].filter((name) => !once.has(name)));
    await plans.work([...once], 'fixed');
    await plans.addEvents(events);
    await plans.commitAll();
    await plans.stage(staged);
  }

  const rows = [...PLAIN_VECTORS, ...LOOP_VECTORS].flatMap((vector) =>
    vector.runs.map((row) => ({ ...row, vector, name: vector.name })),
  );

  test.each(rows)('$name, with $outcomes', async ({ vector, outcomes: given, statuses, result }) => {
    outcomes = given;
    await stage(vector);
    const { id } = await plans.process();
    await drive(id);
    expect(await endOf(id)).toBe(result);
    expect(await plans.statuses(id)).toMatchObject(statuses);
    const actions = Object.fromEntries((vector.fixed ?? []).map((node) => [node, { repeatable: false }]));
    const simulated = simulate({ staged: vector.staged, events: vector.events, actions, outcomes: given });
    expect(await plans.statuses(id)).toEqual(simulated.run.statuses);
    const { state, recovered, unsettled } = await plans.plan(id);
    expect({ result: state, recovered, unsettled }).toEqual({
      ...{ result: simulated.run.result, recovered: simulated.run.recovered, unsettled: simulated.run.unsettled },
    });
    expect(new Set(asked).size).toBe(asked.length);
    const history = await handleOf(id).fetchHistory();
    expect(await replayHistories([{ workflowId: planWorkflowId(id), history }])).toBe(1);
  });

  test('of many attempts continues as new, and asks for each once', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `n${String(index).padStart(2, '0')}`);
    await plans.work(names);
    await plans.addEvents(names.slice(3).map((name, index) => `after ${names[index]}.run success ${name}.run`));
    const { id } = await plans.process();
    await drive(id);
    expect(await endOf(id)).toBe('succeeded');
    expect(new Set(asked).size).toBe(60);
    expect((await handleOf(id).describe()).historyLength).toBeLessThan(400);
    expect((await plans.attempts(id)).every(({ machine, taken }) => machine === HOST && taken)).toBe(true);
  });

  test('goes on after its worker is gone and its workflow is lost, with the attempts that it had', async () => {
    const gate = Promise.withResolvers<void>();
    held = gate.promise;
    await plans.work(['a', 'b']);
    await plans.addEvents('after a.run success b.run');
    const { id } = await plans.process();
    await drive(id);
    await eventually('the first attempt', () => asked.length > 0);
    await handleOf(id).terminate('lost');
    gate.resolve();
    held = null;
    await stopWorkers();
    await startWorkers();
    await sweepPlans({ ...plans.deps, tell: createTell({ client: server.environment.client, log }) });
    expect(await endOf(id)).toBe('succeeded');
    expect((await plans.attempts(id)).map(({ name, number }) => [name, number])).toEqual([
      ['a.run', 1],
      ['b.run', 1],
    ]);
  });

  test('goes on from its rows where the store of Temporal is empty', async () => {
    const gate = Promise.withResolvers<void>();
    held = gate.promise;
    await plans.work(['a', 'b', 'c']);
    await plans.addEvents('after a.run success b.run');
    const { id } = await plans.process();
    await drive(id);
    await eventually('the first attempts', () => asked.length === 2);
    gate.resolve();
    held = null;
    await stopWorkers();
    const empty = await openDevServer();
    try {
      await startWorkers(empty);
      await sweepPlans({ ...plans.deps, tell: createTell({ client: empty.environment.client, log }) });
      await empty.environment.client.workflow.getHandle(planWorkflowId(id)).result();
      await stopWorkers();
    } finally {
      await empty.close();
    }
    expect((await plans.plan(id)).state).toBe('succeeded');
    expect((await plans.attempts(id)).map(({ number }) => number)).toEqual([1, 1, 1]);
    await handleOf(id).terminate('the test is over');
  });

  test('ends with each attempt made once, though its worker goes again and again while it continues as new', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `n${String(index).padStart(2, '0')}`);
    await plans.work(names);
    await plans.addEvents(names.slice(1).map((name, index) => `after ${names[index]}.run success ${name}.run`));
    const { id } = await plans.process();
    await drive(id);
    // Of a worker that went Temporal hears after a heartbeat, and its sticky queue is left after 10 s.
    for (const count of [7, 15, 24]) {
      await eventually(`attempt ${count}`, () => new Set(asked).size >= count, 90_000);
      await stopWorkers();
      await startWorkers();
    }
    expect(await endOf(id)).toBe('succeeded');
    const attempts = await plans.attempts(id);
    expect(attempts.map(({ number, outcome }) => [number, outcome])).toEqual(names.map(() => [1, 'changed']));
  }, 240_000);

  test('one of twenty plans for one target has it at a time; the word that it is free wakes the next one', async () => {
    let [now, most] = [0, 0];
    meanwhile = async () => {
      now += 1;
      most = Math.max(most, now);
      await delay(20);
      now -= 1;
    };
    const names = Array.from({ length: 20 }, (_, index) => `n${String(index).padStart(2, '0')}`);
    await plans.work(names, 'worked', () => 'component:here');
    const ids: string[] = [];
    for (const name of names) ids.push((await plans.process({ tags: [`name=${name}`] })).id);
    const tell = createTell({ client: server.environment.client, log });
    const stop = followLeases({ ...plans.deps, tell, log, database: { url: plans.url } });
    await Promise.all(ids.map(drive));
    // By looking each 30 s alone it would take ten minutes.
    expect(await Promise.all(ids.map(endOf))).toEqual(ids.map(() => 'succeeded'));
    await stop();
    expect({ most, asked: new Set(asked).size }).toEqual({ most: 1, asked: 20 });
    expect(await plans.db.selectFrom('propagation_leases').selectAll().execute()).toEqual([]);
  }, 240_000);

  test('hears a command while an attempt goes on', async () => {
    const gate = Promise.withResolvers<void>();
    held = gate.promise;
    await plans.work(['a', 'b']);
    await plans.addEvents('after a.run success b.run');
    const { id } = await plans.process();
    await drive(id);
    await eventually('the first attempt', () => asked.length > 0);
    await stopPlan(plans.deps, id);
    await tellOrThrow(server.environment.client, pokedPlan(id));
    await eventually('that it was heard', async () => (await plans.statuses(id))['b.run'] === 'skipped');
    gate.resolve();
    expect(await endOf(id)).toBe('stopped');
  });
});
