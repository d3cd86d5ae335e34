/** Brings drivers of plans, and syncs of repositories, to their ends, each in its own way, so that their histories can be recorded. */
import { ApplicationFailure } from '@temporalio/common';
import type { AdvancePlanAnswer, AdvancePlanInput, OpenAttempt } from '../../../../activities/propagation/contract.ts';
import { hostQueueOf } from '../../../../domain/engine/task-queues.ts';
import { planWorkflowId, syncWorkflowId } from '../../../../domain/propagation/workflow-id.ts';
import { pokePlan, syncWanted } from '../../../../workflows/propagation/messages.ts';
import { startTestWorker } from '../../stack/session-bench.ts';
import { workflowBundle } from '../workflow-environment.ts';
import type { Histories, Recorded } from './recorded.ts';

const attempt = (number: number, queue: string | null = null): OpenAttempt => ({
  attempt: `22222222-2222-4333-8444-${String(number).padStart(12, '0')}`,
  queue,
});

const goesOn = (attempts: OpenAttempt[] = [], more = false): AdvancePlanAnswer => ({
  ...{ isOver: false, more, attempts, waitMs: 3_600_000, summary: `${attempts.length} attempts` },
});
const OVER: AdvancePlanAnswer = { ...goesOn(), isOver: true, summary: 'the plan is over' };

interface Way {
  /** What each step answers, by its number from 1. */
  step(number: number, input: AdvancePlanInput): AdvancePlanAnswer;
  run?(attempt: string): Promise<'ended' | 'elsewhere'>;
  maxEvents?: number;
  /** The driver is poked when this step is made. */
  pokedAt?: number;
}

const driver =
  (name: string, number: number, { step, run = async () => 'ended', maxEvents, pokedAt }: Way): Recorded =>
  async ({ environment }) => {
    const taskQueue = `test-${name}`;
    const plan = `11111111-2222-4333-8444-${String(number).padStart(12, '0')}`;
    const workflowId = planWorkflowId(plan);
    const { client } = environment;
    let steps = 0;
    const stop = await startTestWorker(environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: {
        advancePlan: async (input: AdvancePlanInput) => {
          steps += 1;
          if (steps === pokedAt) await client.workflow.getHandle(workflowId).signal(pokePlan);
          return step(steps, input);
        },
        runAttempt: ({ attempt: id }: { attempt: string }) => run(id),
      },
    });
    const args = [{ plan, ...(maxEvents === undefined ? {} : { maxEvents }) }];
    const handle = await client.workflow.start('planExecutionWorkflow', { workflowId, taskQueue, args });
    await handle.result();
    await stop();
    return workflowId;
  };

interface Sync {
  /** One try of the sync with this number. */
  work(sync: number, tries: number): Promise<{ commit: string | null }>;
  /** Syncs that are wanted. */
  wanted?: number;
  maxEvents?: number;
}

/** Brings the workflow of a repository to its end. */
const sync =
  (name: string, number: number, { work, wanted = 1, maxEvents }: Sync): Recorded =>
  async ({ environment }) => {
    const taskQueue = `test-${name}`;
    const repository = `33333333-2222-4333-8444-${String(number).padStart(12, '0')}`;
    const workflowId = syncWorkflowId(repository);
    let [done, tries] = [0, 0];
    const stop = await startTestWorker(environment, {
      taskQueue,
      workflowBundle: await workflowBundle(),
      activities: {
        beginSync: async () => ({ sync: done < wanted ? done + 1 : null }),
        syncRepository: async ({ sync: wish }: { sync: number }) => {
          tries += 1;
          const answer = await work(wish, tries);
          done = wish;
          return answer;
        },
        failSync: async ({ sync: wish }: { sync: number }) => {
          done = wish;
        },
      },
    });
    const args = [{ repository, ...(maxEvents === undefined ? {} : { maxEvents }) }];
    const start = { workflowId, taskQueue, args, signal: syncWanted };
    const handle = await environment.client.workflow.signalWithStart('syncRepositoryWorkflow', start);
    await handle.result();
    await stop();
    return workflowId;
  };

const noAnswer = () => ApplicationFailure.create({ type: 'clone_failed', message: 'no answer' });
const refused = () => ApplicationFailure.nonRetryable('no such branch', 'branch_not_found');

export const PROPAGATION_HISTORIES: Histories = {
  /** Two slices, a step that fails, a poke, three attempts of which a watcher is lost. */
  'plan-done': driver('plan-done', 1, {
    pokedAt: 3,
    step: (number, { own }) => {
      if (number === 1) return goesOn([], true);
      if (number === 2) throw ApplicationFailure.nonRetryable('the database is away', 'internal');
      if (number === 3) return goesOn([attempt(1), attempt(2)]);
      if (number === 4) return goesOn([attempt(3)]);
      return own.length === 0 ? OVER : goesOn();
    },
    run: async (id) => {
      if (id === attempt(2).attempt) throw ApplicationFailure.nonRetryable('no answer', 'internal');
      return 'ended';
    },
  }),
  /** The last run of a driver that has continued as new. */
  'plan-continued': driver('plan-continued', 2, {
    maxEvents: 20,
    step: (number) => (number > 8 ? OVER : goesOn([attempt(number)])),
  }),
  /** A machine that does not take an attempt, and then another one that is there. */
  'plan-machine-away': driver('plan-machine-away', 3, {
    step: (number) => {
      if (number === 1) return goesOn([attempt(1, hostQueueOf('plan-machine-away'))]);
      return number === 2 ? goesOn([attempt(1)]) : OVER;
    },
  }),
  /** A sync whose first try finds no remote. */
  'sync-repository': sync('sync-repository', 1, {
    work: async (_wish, tries) => {
      if (tries === 1) throw noAnswer();
      return { commit: 'a'.repeat(40) };
    },
  }),
  /** A sync that is refused, and the next one that is good. */
  'sync-repository-failed': sync('sync-repository-failed', 2, {
    wanted: 2,
    work: async (wish) => {
      if (wish === 1) throw refused();
      return { commit: null };
    },
  }),
  /** The last run of a workflow that has continued as new. */
  'sync-repository-continued': sync('sync-repository-continued', 3, {
    wanted: 4,
    maxEvents: 20,
    work: async () => ({ commit: 'b'.repeat(40) }),
  }),
};
