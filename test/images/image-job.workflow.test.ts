/** The workflow of an image job, with fake activities. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ImageJobRecords, ImageWork } from '../../activities/images/contract.ts';
import type { imageJobWorkflow } from '../../workflows/images/image-job.workflow.ts';
import { endImageJob } from '../../workflows/images/messages.ts';
import { eventually } from '../support/eventually.ts';
import { describeNeeding } from '../support/requirement.ts';
import { startTestWorker } from '../support/stack/session-bench.ts';
import { temporalMissing } from '../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer, workflowBundle } from '../support/temporal/workflow-environment.ts';

const QUEUE = `test-${randomUUID()}`;

type Activities = ImageJobRecords & ImageWork;

describeNeeding(temporalMissing(), 'an image job', () => {
  let server: TestServer;
  let stop: () => Promise<void>;
  let said: string[];
  let job: { status: string; over: boolean };
  let acts: Activities;

  beforeAll(async () => {
    server = await openDevServer();
    const names = [
      'readImageJob',
      'takeImageTurn',
      'noteOnImageJob',
      'failImageJob',
      'closeImageJob',
      'unpackRoot',
      'openRoot',
      'watchRoot',
      'packRoot',
      'cleanRoot',
    ] as const satisfies readonly (keyof Activities)[];
    const activities = Object.fromEntries(
      names.map((name) => [name, (input: never) => (acts[name] as (given: never) => unknown)(input)]),
    );
    stop = await startTestWorker(server.environment, {
      taskQueue: QUEUE,
      workflowBundle: await workflowBundle(),
      activities,
    });
  });
  afterAll(async () => {
    await stop?.();
    await server?.close();
  });

  beforeEach(() => {
    said = [];
    job = { status: 'creating', over: false };
    acts = {
      readImageJob: async () => ({
        status: job.status as 'creating',
        over: job.over,
        queue: job.status === 'creating' ? null : QUEUE,
        stepSeconds: 60,
      }),
      takeImageTurn: async ({ status }) => {
        if (job.over) return { state: 'over' };
        job.status = status;
        return { state: 'go', queue: QUEUE };
      },
      noteOnImageJob: async () => undefined,
      failImageJob: async ({ message }) => {
        said.push(`failed: ${message}`);
        job = { status: 'error', over: true };
      },
      closeImageJob: async () => void said.push('closed'),
      unpackRoot: async () => void said.push('unpacked'),
      openRoot: async () => {
        said.push('opened');
        job.status = 'waiting_on_user';
      },
      watchRoot: async () => ({ state: 'complete' }),
      packRoot: async () => {
        said.push('packed');
        job = { status: 'success', over: true };
      },
      cleanRoot: async () => void said.push('cleaned'),
    };
  });

  const start = () =>
    server.environment.client.workflow.start<typeof imageJobWorkflow>('imageJobWorkflow', {
      workflowId: `image-job/${randomUUID()}`,
      taskQueue: QUEUE,
      args: [{ jobId: 'j1' }],
    });

  const SUCCESS = ['unpacked', 'opened', 'packed', 'cleaned', 'closed'];

  test('goes its way', async () => {
    await (await start()).result();
    expect(said).toEqual(SUCCESS);
  });

  test.each([
    ['waiting_on_user', ['packed', 'cleaned', 'closed']],
    ['packaging_artifacts', ['packed', 'cleaned', 'closed']],
    ['fetching_image', SUCCESS],
  ])('begins where its record is: %s', async (status, expected) => {
    job.status = status;
    await (await start()).result();
    expect(said).toEqual(expected);
  });

  test('waits for its turn', async () => {
    let asked = 0;
    const { takeImageTurn } = acts;
    acts.takeImageTurn = async (input) => {
      asked += 1;
      return asked < 3 ? { state: 'wait', message: 'others', retrySeconds: 1 } : takeImageTurn(input);
    };
    await (await start()).result();
    expect([asked, said]).toEqual([4, SUCCESS]);
  });

  test('opens an environment again that is gone', async () => {
    let looks = 0;
    acts.watchRoot = async () => ({ state: ++looks === 1 ? 'gone' : 'complete' });
    await (await start()).result();
    expect(said).toEqual(['unpacked', 'opened', 'opened', 'packed', 'cleaned', 'closed']);
  });

  test('an environment that is gone again and again is an error', async () => {
    acts.watchRoot = async () => ({ state: 'gone' });
    await (await start()).result();
    expect(said.slice(-3)).toEqual(['failed: its environment was gone 10 times', 'cleaned', 'closed']);
  });

  test('a user who gives up ends it in error', async () => {
    acts.watchRoot = async () => ({ state: 'failed' });
    await (await start()).result();
    expect(said).toEqual(['unpacked', 'opened', 'failed: its user gave it up', 'cleaned', 'closed']);
  });

  test.each(['unpackRoot', 'openRoot', 'watchRoot', 'packRoot'] as const)(
    'what fails for good in %s is its error, and nothing is left',
    async (step) => {
      acts[step] = async () => {
        throw ApplicationFailure.nonRetryable('why', 'image_archive_invalid');
      };
      await (await start()).result();
      expect(said.slice(-3)).toEqual(['failed: why', 'cleaned', 'closed']);
    },
  );

  test('work that a dead worker left is begun again', async () => {
    let tries = 0;
    acts.unpackRoot = async () => {
      tries += 1;
      if (tries === 1) throw new Error('the worker died');
      said.push('unpacked');
    };
    await (await start()).result();
    expect([tries, said]).toEqual([2, SUCCESS]);
  });

  test.each(['unpackRoot', 'watchRoot', 'packRoot'] as const)('a delete during %s breaks it off', async (step) => {
    let isIn = false;
    acts[step] = async () => {
      const { heartbeat, cancelled } = Context.current();
      isIn = true;
      const beat = setInterval(() => heartbeat(), 50);
      try {
        return await cancelled;
      } finally {
        clearInterval(beat);
      }
    };
    const handle = await start();
    await eventually('it is at work', async () => isIn);
    job.over = true;
    await handle.signal(endImageJob);
    await handle.result();
    expect(said.slice(-2)).toEqual(['cleaned', 'closed']);
    expect(said.join()).not.toContain('failed');
  });

  test('one that is over before it begins only cleans up', async () => {
    job = { status: 'error', over: true };
    await (await start()).result();
    expect(said).toEqual(['cleaned', 'closed']);
  });
});
