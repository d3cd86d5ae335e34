/** The workflow of an image job that continues as new while it waits for its turn: nothing that it was told or has counted is lost. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ImageJobPlan, ImageJobRecords, ImageWork } from '../../activities/images/contract.ts';
import type { imageJobWorkflow } from '../../workflows/images/image-job.workflow.ts';
import { endImageJob } from '../../workflows/images/messages.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { startTestWorker } from '../support/stack/session-bench.ts';
import { temporalMissing } from '../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../support/temporal/workflow-environment.ts';

/** So many events, and the server suggests it: every wait for a turn ends so. */
const HINT = 6;

describeNeeding(temporalMissing(), 'an image job that continues as new', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await openDevServer([`limit.historyCount.suggestContinueAsNew=${HINT}`]);
  });
  afterAll(() => server?.close());

  /** A job of its own, with its worker; `given` in place of what does nothing. */
  async function newJob(given: (job: ImageJobPlan, queue: string) => Partial<ImageJobRecords & ImageWork>) {
    const { client } = server.environment;
    const queue = `test-${randomUUID()}`;
    const job: ImageJobPlan = { status: 'creating', over: false, queue: null, stepSeconds: 60 };
    const said: string[] = [];
    const activities: ImageJobRecords & ImageWork = {
      readImageJob: async () => ({ ...job }),
      takeImageTurn: async ({ status }) => {
        Object.assign(job, { status, queue });
        return { state: 'go', queue };
      },
      noteOnImageJob: async () => undefined,
      failImageJob: async ({ message }) => {
        said.push(`failed: ${message}`);
        Object.assign(job, { status: 'error', over: true });
      },
      closeImageJob: async () => void said.push('closed'),
      unpackRoot: async () => undefined,
      openRoot: async () => {
        said.push('opened');
        job.status = 'waiting_on_user';
      },
      watchRoot: async () => ({ state: 'complete' }),
      packRoot: async () => {
        said.push('packed');
        Object.assign(job, { status: 'success', over: true });
      },
      cleanRoot: async () => undefined,
    };
    Object.assign(activities, given(job, queue));
    const start = async () => {
      const taskQueue = queue;
      return startTestWorker(server.environment, {
        taskQueue,
        workflowBundle: await workflowBundle(),
        activities: { ...activities },
      });
    };
    let stop = await start();
    const handle = await client.workflow.start<typeof imageJobWorkflow>('imageJobWorkflow', {
      workflowId: `image-job/${randomUUID()}`,
      taskQueue: queue,
      args: [{ jobId: 'j1' }],
    });
    return {
      job,
      said,
      handle,
      /** The run that is there now, whichever run began it. */
      latest: client.workflow.getHandle(handle.workflowId),
      stopWorker: () => stop(),
      startWorker: async () => {
        stop = await start();
      },
    };
  }

  test.each(['deleted', 'cancelled in Temporal'])(
    '%s at the moment at which it does: it ends, and says what it should',
    async (how) => {
      let turns = 0;
      const one = await newJob((job) => ({
        takeImageTurn: async () => {
          turns += 1;
          return job.over ? { state: 'over' } : { state: 'wait', message: 'others', retrySeconds: 1 };
        },
      }));
      const { latest } = one;
      const waits = async (over: boolean) => {
        const { events } = await latest.fetchHistory();
        return events?.some((event) => event[over ? 'timerFiredEventAttributes' : 'timerStartedEventAttributes']);
      };
      await eventually(
        'its worker has gone while it waits for its turn',
        async () => {
          const before = turns;
          await eventually('it asks for its turn', () => turns > before, 60_000);
          await one.stopWorker();
          if (await waits(false)) return true;
          await one.startWorker();
          return false;
        },
        100_000,
      );
      if (how === 'deleted') {
        one.job.over = true;
        await latest.signal(endImageJob);
      } else await latest.cancel();
      // Then the worker hears of both in one go.
      await eventually('its wait is over', () => waits(true));
      await one.startWorker();
      await latest.result();
      await one.stopWorker();
      expect(one.said).toEqual(how === 'deleted' ? ['closed'] : ['failed: cancelled in Temporal', 'closed']);
    },
    300_000,
  );

  test('still knows how often its environment was gone', async () => {
    let [watches, waits] = [0, 0];
    const one = await newJob((job, queue) => ({
      takeImageTurn: async ({ status }) => {
        if (status === 'packaging_artifacts') {
          waits += 1;
          return { state: 'wait', message: 'others', retrySeconds: 0.1 };
        }
        Object.assign(job, { status, queue });
        return { state: 'go', queue };
      },
      // Its user is done three times before he is not.
      watchRoot: async () => {
        watches += 1;
        return { state: [3, 5, 7].includes(watches) ? 'complete' : 'gone' };
      },
    }));
    await one.handle.result();
    await one.stopWorker();
    expect(waits).toBeGreaterThan(0);
    expect((await one.latest.describe()).runId).not.toBe(one.handle.firstExecutionRunId);
    expect(one.said.filter((word) => word === 'opened')).toHaveLength(10);
    expect(one.said.slice(-2)).toEqual(['failed: its environment was gone 10 times', 'closed']);
  });
});
