/** A job whose machine goes away while it unpacks: ten minutes later its image is half there, and begun again on the next one. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createImageRecords } from '../../activities/images/activities.ts';
import type { ImageJobPlan, ImageJobRecords, ImageWork } from '../../activities/images/contract.ts';
import { findImageJob, noteImageWorker } from '../../store/images/image-jobs.ts';
import { createTestDatabase } from '../support/postgres/test-database.ts';
import { describeNeeding } from '../support/requirement.ts';
import { replayHistories, startTestWorker } from '../support/stack/session-bench.ts';
import { testServerMissing } from '../support/temporal/test-server.ts';
import { openTimeSkipping, type TestServer, workflowBundle } from '../support/temporal/workflow-environment.ts';
import { newImageJob } from './new-image-job.ts';

describeNeeding(testServerMissing(), 'an image job whose machine goes away', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await openTimeSkipping();
  });
  afterAll(() => server?.close());

  /** A job's workflow that has ended, with these activities on the machine `here`. */
  const ranToItsEnd = async (here: string, activities: Partial<ImageJobRecords & ImageWork>, given: object = {}) => {
    const { environment } = server;
    const stop = await startTestWorker(environment, {
      taskQueue: here,
      workflowBundle: await workflowBundle(),
      activities: { ...activities },
    });
    const start = { workflowId: `image-job/${randomUUID()}`, taskQueue: here, args: [{ jobId: 'j1', ...given }] };
    const handle = await environment.client.workflow.start('imageJobWorkflow', start);
    await handle.result();
    await stop();
    return handle;
  };

  test('is unpacked again before it is opened', async () => {
    const [here, away] = [`here-${randomUUID()}`, `away-${randomUUID()}`];
    const job: Omit<ImageJobPlan, 'stepSeconds'> = { status: 'creating', over: false, queue: null };
    let turns = 0;
    const activities: ImageJobRecords & ImageWork = {
      readImageJob: async () => ({ ...job, stepSeconds: 60 }),
      takeImageTurn: async ({ status }) => {
        turns += 1;
        const queue = turns === 1 ? away : here;
        Object.assign(job, { status, queue });
        return { state: 'go', queue };
      },
      noteOnImageJob: async () => undefined,
      failImageJob: async () => void Object.assign(job, { status: 'error', over: true }),
      closeImageJob: async () => undefined,
      unpackRoot: async () => undefined,
      openRoot: async () => void Object.assign(job, { status: 'waiting_on_user' }),
      watchRoot: async () => ({ state: 'complete' }),
      packRoot: async () => void Object.assign(job, { status: 'success', over: true }),
      cleanRoot: async () => undefined,
    };
    const handle = await ranToItsEnd(here, activities);
    const history = await handle.fetchHistory();
    const steps = (history.events ?? []).flatMap(({ activityTaskScheduledEventAttributes: step }) =>
      step ? [`${step.activityType?.name} ${step.taskQueue?.name?.slice(0, 4)}`] : [],
    );
    expect(steps).toEqual([
      'unpackRoot away',
      'unpackRoot here',
      'openRoot here',
      'watchRoot here',
      'packRoot here',
      'cleanRoot here',
    ]);
    expect(await replayHistories([{ workflowId: handle.workflowId, history }])).toBe(1);
  });

  test.each([
    ['', {}, 0],
    [', also from the run before', { untakenSeconds: 1_200 }, 1_200],
  ])('and that takes up nothing says in each look at its record for how long%s', async (_also, given, before) => {
    const [here, away] = [`here-${randomUUID()}`, `away-${randomUUID()}`];
    const untaken: unknown[] = [];
    const activities: Partial<ImageJobRecords & ImageWork> = {
      readImageJob: async ({ untakenSeconds }) => {
        untaken.push(untakenSeconds);
        const over = untaken.length > 3;
        return { status: over ? 'error' : 'packaging_artifacts', over, queue: over ? here : away, stepSeconds: 60 };
      },
      closeImageJob: async () => undefined,
      cleanRoot: async () => undefined,
    };
    await ranToItsEnd(here, activities, given);
    // The last is that of the clean-up, which nobody limits by it.
    expect(untaken).toEqual([...[0, 600, 1_200, 1_800].map((seconds) => before + seconds), undefined]);
  });

  test('while it waits for its user ends when his time is over', async () => {
    const { environment } = server;
    const [here, away] = [`here-${randomUUID()}`, `away-${randomUUID()}`];
    const database = await createTestDatabase();
    const storeId = randomUUID();
    const { id } = await newImageJob(database.db, { storeId });
    const since = new Date();
    const open = { status: 'waiting_on_user' as const, queue: away, waiting_since: since };
    await database.db.updateTable('image_jobs').set(open).where('id', '=', id).execute();
    await noteImageWorker(database.db, { store_id: storeId, queue: away, able: true, reason: '', seen_at: since });
    // The server's time jumps by the ten minutes in which nobody takes the work.
    let reads = 0;
    const imageLimits = { working: 1, open: 1, stepSeconds: 60, userSeconds: 3_600, queueSeconds: 60 };
    const clock = () => new Date(since.getTime() + reads * 600_000);
    const records = createImageRecords({
      db: database.db,
      clock,
      since: new Date(0),
      imageLimits,
    });
    const readImageJob: ImageJobRecords['readImageJob'] = (input) => {
      reads += 1;
      return records.readImageJob(input);
    };
    const stop = await startTestWorker(environment, {
      taskQueue: here,
      workflowBundle: await workflowBundle(),
      activities: { ...records, readImageJob },
    });
    const start = { workflowId: `image-job/${id}`, taskQueue: here, args: [{ jobId: id }] };
    await (await environment.client.workflow.start('imageJobWorkflow', start)).result();
    await stop();
    const job = await findImageJob(database.db, id);
    await database.close();
    expect(job).toMatchObject({ status: 'error', cleaned: true, message: expect.stringContaining('machine is away') });
    // Seven looks until the hour is over, and one before the clean-up.
    expect(reads).toBe(8);
  });
});
