/** The driver of plans: when it makes steps, what it watches, what becomes of it. Steps and attempts are fakes. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { AdvancePlanAnswer, AdvancePlanInput, OpenAttempt } from '../../../activities/propagation/contract.ts';
import { pokedPlan, wantedPlan } from '../../../control/propagation/wake-plans.ts';
import { tellOrThrow } from '../../../control/temporal/tell.ts';
import { hostQueueOf } from '../../../domain/engine/task-queues.ts';
import { planWorkflowId } from '../../../domain/propagation/workflow-id.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { replayHistories, startTestWorker } from '../../support/stack/session-bench.ts';
import { testServerMissing } from '../../support/temporal/test-server.ts';
import {
  openDevServer,
  openTimeSkipping,
  type TestServer,
  workflowBundle,
} from '../../support/temporal/workflow-environment.ts';

const LONG = 3_600_000;

const open = (queue: string | null = null): OpenAttempt => ({ attempt: randomUUID(), queue });
const goesOn = (given: Partial<AdvancePlanAnswer> = {}): AdvancePlanAnswer => ({
  ...{ isOver: false, more: false, attempts: [], waitMs: LONG, summary: 'goes on' },
  ...given,
});
const OVER = goesOn({ isOver: true, summary: 'over' });

describeNeeding(testServerMissing(), 'the driver of a plan', () => {
  let server: TestServer;
  let stops: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    server = await openTimeSkipping();
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });
  afterAll(() => server?.close());

  interface Fakes {
    step(number: number, input: AdvancePlanInput): Promise<AdvancePlanAnswer> | AdvancePlanAnswer;
    run?(attempt: string): Promise<'ended' | 'elsewhere'>;
    machines?: Record<string, (attempt: string) => Promise<'ended' | 'elsewhere'>>;
    maxEvents?: number;
  }

  async function driving(
    { step, run = async () => 'ended', machines = {}, maxEvents }: Fakes,
    { environment }: Pick<TestServer, 'environment'> = server,
  ) {
    const taskQueue = `test-${randomUUID()}`;
    const plan = randomUUID();
    const asked: AdvancePlanInput[] = [];
    stops = [
      await startTestWorker(environment, {
        taskQueue,
        workflowBundle: await workflowBundle(),
        activities: {
          advancePlan: async (input: AdvancePlanInput) => {
            asked.push(input);
            return step(asked.length, input);
          },
          runAttempt: ({ attempt }: { attempt: string }) => run(attempt),
        },
      }),
    ];
    for (const [machine, work] of Object.entries(machines)) {
      const runAttempt = ({ attempt }: { attempt: string }) => work(attempt);
      stops.push(await startTestWorker(environment, { taskQueue: hostQueueOf(machine), activities: { runAttempt } }));
    }
    const args = [{ plan, ...(maxEvents === undefined ? {} : { maxEvents }) }];
    await tellOrThrow(environment.client, { ...wantedPlan(plan), taskQueue, args });
    const handle: WorkflowHandle = environment.client.workflow.getHandle(planWorkflowId(plan));
    stops.unshift(() => handle.terminate('the test is over').catch(() => undefined));
    return {
      handle,
      asked,
      poke: () => tellOrThrow(environment.client, { ...pokedPlan(plan), taskQueue }),
    };
  }

  test('makes steps until the plan is over, at once where there is more', async () => {
    const driver = await driving({ step: (number) => (number < 4 ? goesOn({ more: true }) : OVER) });
    await driver.handle.result();
    expect(driver.asked).toHaveLength(4);
    const history = await driver.handle.fetchHistory();
    expect(await replayHistories([{ workflowId: driver.handle.workflowId, history }])).toBe(1);
  });

  test('names the attempts that it watches, and steps on when one of them is over', async () => {
    const [slow, fast] = [open(), open()];
    const held = Promise.withResolvers<void>();
    const driver = await driving({
      step: (number) => {
        if (number === 1) return goesOn({ attempts: [slow, fast] });
        if (number === 2) held.resolve();
        return number === 2 ? goesOn() : OVER;
      },
      run: async (attempt) => {
        if (attempt === slow.attempt) await held.promise;
        return 'ended';
      },
    });
    await driver.handle.result();
    expect(driver.asked.map(({ own }) => own)).toEqual([[], [slow.attempt], []]);
  });

  test('watches an attempt on the machine that has its files', async () => {
    const attempt = open();
    const seen: string[] = [];
    const driver = await driving({
      step: (number) => {
        if (number === 1) return goesOn({ attempts: [attempt] });
        return number === 2 ? goesOn({ attempts: [{ ...attempt, queue: hostQueueOf('disk') }] }) : OVER;
      },
      run: async () => 'elsewhere',
      machines: {
        disk: async (id) => {
          seen.push(id);
          return 'ended';
        },
      },
    });
    await driver.handle.result();
    expect(seen).toEqual([attempt.attempt]);
    expect(driver.asked.map(({ away }) => away)).toEqual([[], [], []]);
  });

  test('says which machine has not taken an attempt', async () => {
    const attempt = open(hostQueueOf(`away-${randomUUID()}`));
    const driver = await driving({ step: (number) => (number === 1 ? goesOn({ attempts: [attempt] }) : OVER) });
    await driver.handle.result();
    expect(driver.asked.map(({ away }) => away)).toEqual([[], [attempt.attempt]]);
  });

  test('goes on after a step that failed and a watcher that was lost', async () => {
    const attempt = open();
    let tries = 0;
    const driver = await driving({
      step: (number, { own }) => {
        if (number === 1) throw new Error('the database is away');
        if (tries === 2) return OVER;
        return goesOn({ attempts: own.includes(attempt.attempt) ? [] : [attempt] });
      },
      run: async () => {
        tries += 1;
        if (tries === 1) throw new Error('no answer');
        return 'ended';
      },
    });
    await driver.handle.result();
    expect(tries).toBe(2);
  });

  test('makes a step when it is poked, and another one for a command that comes with the end', async () => {
    const driver = await driving({
      step: async (number) => {
        if (number === 1) return goesOn();
        if (number === 2) await driver.poke();
        return OVER;
      },
    });
    await eventually('the first step', () => driver.asked.length === 1);
    await driver.poke();
    await driver.handle.result();
    expect(driver.asked).toHaveLength(3);
  });

  test('continues as new, and its next run gets what is open', async () => {
    // The server that skips time refuses to go on as new while an activity is open.
    const real = await openDevServer();
    const long = open();
    const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let watchers = 0;
    let rounds = 0;
    const driver = await driving(
      {
        maxEvents: 40,
        step: (_number, { own }) => {
          rounds += 1;
          if (own.length === 0 && rounds > 1 && watchers > 0) over.resolve();
          if (rounds > 20) held.resolve();
          if (rounds > 30) return OVER;
          const missing = own.includes(long.attempt) || rounds > 25 ? [] : [long];
          return goesOn({ attempts: rounds < 20 ? [...missing, open()] : missing, waitMs: 10 });
        },
        run: async (attempt) => {
          if (attempt !== long.attempt) return 'ended';
          watchers += 1;
          await held.promise;
          return 'ended';
        },
      },
      real,
    );
    stops.push(() => real.close());
    await over.promise;
    await driver.handle.result();
    expect(watchers).toBeGreaterThan(1);
    expect((await driver.handle.describe()).historyLength).toBeLessThan(200);
  });
});
