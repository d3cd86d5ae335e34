/** To wait for the turn of an image at the image service is no failure (cfs-flows 8.2), and has a limit all the same. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { WAITS_FOR_TURN } from '../../../domain/images/job-turn.ts';
import { type ImageBench, openImageBench } from '../../support/images/image-bench.ts';
import { perform } from '../../support/stack/session-machine.ts';
import { sessionNow } from '../../support/temporal/engine-sessions.ts';

let bench: ImageBench;
beforeAll(async () => {
  bench = await openImageBench();
});
beforeEach(() => {
  bench.reset();
  bench.service.begin = () => undefined;
});
afterAll(() => bench?.close());

const HOUR = 3_600;
const TURN = `${WAITS_FOR_TURN}: 10 other image jobs are open`;

/** How a try ended: `done`, or the word of its failure. */
const wordOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (failure: { type?: string; code?: string }) => failure.code ?? failure.type ?? '',
  );

/** A session with one image whose job is made; it waits at most 30 min, and a day for its turn. */
async function waiting() {
  const one = bench.worker({ imageWaitSeconds: HOUR / 2, imageQueueSeconds: 24 * HOUR });
  const { session, ref } = await bench.planned(one);
  const open = () => wordOf(perform(() => one.activities.openImage(ref)));
  const finish = () =>
    perform(() => one.activities.finishImage({ ...ref, fault: null })).catch(
      (failure: { type?: string }) => failure.type,
    );
  await open();
  const [job] = bench.jobsOf(session.name);
  if (job === undefined) throw new Error('no job');
  return { session, job, open, finish, later: (seconds: number) => bench.movedBack(session.id, seconds) };
}

describe('opening', () => {
  test('takes as long as it takes until it is its turn, and says so; then it has all of its time', async () => {
    const { session, job, open, later } = await waiting();
    job.message = TURN;
    for (let hours = 0; hours < 20; hours += 1) {
      expect(await open()).toBe('image_not_ready');
      await later(HOUR);
    }
    expect((await sessionNow(bench.db, session.id)).message).toContain(`creating: ${TURN}`);
    await open();
    Object.assign(job, { status: 'fetching_image', message: '' });
    await later(HOUR / 2 - 60);
    expect(await open()).toBe('image_not_ready');
    await later(HOUR / 2 + 60);
    expect(await open()).toBe('image_wait_timeout');
  });

  test('ends with a reason when the turn does not come within its limit', async () => {
    const { session, job, open, later } = await waiting();
    job.message = TURN;
    await later(24 * HOUR - 60);
    expect(await open()).toBe('image_not_ready');
    await later(120);
    expect(await open()).toBe('image_wait_timeout');
    const [row] = await bench.rows(session.id);
    expect(row).toMatchObject({ message: `creating: ${TURN}` });
  });

  test('a service that goes away is no queue', async () => {
    const { job, open, later } = await waiting();
    job.message = TURN;
    await later(2 * HOUR);
    expect(await open()).toBe('image_not_ready');
    bench.service.trouble = () => ({ kind: 'status', status: 503 });
    await later(HOUR / 2 - 60);
    expect(await open()).toBe('image_service_unavailable');
    await later(120);
    expect(await open()).toBe('image_wait_timeout');
  });

  test('the turn of one image is no news of another, which waits as long as it may', async () => {
    const one = bench.worker({ imageWaitSeconds: HOUR / 2, imageQueueSeconds: 24 * HOUR });
    const { session, refs } = await bench.plannedPair(one);
    const [stuck, queued] = refs.map((ref) => () => wordOf(perform(() => one.activities.openImage(ref))));
    await stuck?.();
    await queued?.();
    const [, job] = bench.jobsOf(session.name);
    if (job) job.message = TURN;
    for (const open of [stuck, queued]) await open?.();
    await bench.movedBack(session.id, HOUR / 2 + 60);
    expect(await queued?.()).toBe('image_not_ready');
    expect(await stuck?.()).toBe('image_wait_timeout');
  });
});

test('packing waits for its turn as well', async () => {
  const { session, job, open, finish, later } = await waiting();
  job.status = 'waiting_on_user';
  expect(await open()).toBe('done');
  expect(await finish()).toBe('image_not_ready');
  job.message = TURN;
  for (let hours = 0; hours < 20; hours += 1) {
    expect(await finish()).toBe('image_not_ready');
    await later(HOUR);
  }
  expect((await sessionNow(bench.db, session.id)).message).toContain(TURN);
  await finish();
  Object.assign(job, { status: 'packaging_artifacts', message: '' });
  expect(await finish()).toBe('image_not_ready');
  await later(HOUR / 2 + 60);
  expect(await finish()).toMatchObject({ resultId: null, message: expect.stringContaining('no image within 30 min') });
});

test('packing ends with a reason when the turn does not come within its limit', async () => {
  const { job, open, finish, later } = await waiting();
  job.status = 'waiting_on_user';
  await open();
  await finish();
  job.message = TURN;
  await later(24 * HOUR + 60);
  const message = expect.stringContaining(
    'no image within 24 h (MUSTER_IMS_QUEUE_WAIT): waiting_on_user: waits for its turn',
  );
  expect(await finish()).toMatchObject({ resultId: null, message });
});
