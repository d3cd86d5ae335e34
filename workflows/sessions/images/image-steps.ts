/**
 * What a session on images does at the image service, the same wherever its layers run (cfs-flows 3.3, 3.4).
 *
 *  1. plan: the distinct images and the names of the results
 *  2. a key pair of the session, known to the service only until every shell is open
 *  3. for all images, 200 at once: a job, its shell, a login; one that fails breaks off the others
 *  4. after the layers: each image that every layer reached becomes a new one, the others do not
 *  5. in every case: each job that made no image is deleted, and the keys
 *
 * History: 40 events and 12 for each image, however long it waits: a try that finds nothing new is no event.
 */
import { ActivityFailure, ApplicationFailure, CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { SessionRef } from '../../../activities/sessions/contract.ts';
import type { FinishedImage, ImageActivities, PlannedImages } from '../../../activities/sessions/image-contract.ts';
import {
  type Ending,
  type State,
  show,
  throwIfCancelled,
  unlessCancelled,
  WHEN_IT_HAS_STOPPED,
} from '../session-state.ts';
import { imageSilence } from './image-silence.ts';
import { forEachImage } from './image-turns.ts';

const STEP = { startToCloseTimeout: '2m', heartbeatTimeout: '10s', cancellationType: WHEN_IT_HAS_STOPPED } as const;
const AGAIN = { initialInterval: '1s', maximumInterval: '15s' } as const;

const { planImages, makeImageKey } = proxyActivities<ImageActivities>({
  ...STEP,
  startToCloseTimeout: '10m',
  scheduleToCloseTimeout: '30m',
  retry: AGAIN,
});
const { removeImageKey } = proxyActivities<ImageActivities>({ ...STEP, retry: { ...AGAIN, maximumAttempts: 3 } });
const { judgeImages } = proxyActivities<ImageActivities>({ ...STEP, retry: AGAIN });
/** What cannot be ended in this time is left to the sweep. */
const { releaseImages: release } = proxyActivities<ImageActivities>({
  ...STEP,
  scheduleToCloseTimeout: '1m',
  startToCloseTimeout: '50s',
  retry: { initialInterval: '500ms', maximumInterval: '10s' },
});

/** The activities know how long they may wait, at most so long for each image; this is for the case that nobody takes them up. */
const waiting = ({ images, waitSeconds, queueSeconds = 0 }: PlannedImages) =>
  proxyActivities<ImageActivities>({
    ...STEP,
    scheduleToCloseTimeout: (waitSeconds * images.length + queueSeconds + 1_800) * 1_000,
    retry: AGAIN,
  });

/** Opens the shells of all images, or fails with the first reason; nothing of it is left behind without `releaseImages`. */
export async function prepareImages(input: SessionRef, state: State): Promise<PlannedImages> {
  show(state, { step: 'open_images' });
  const planned = await unlessCancelled(state, () => planImages(input));
  await unlessCancelled(state, () => makeImageKey(input));
  const { openImage } = waiting(planned);
  await unlessCancelled(state, () => allOrNone(planned.images, (image) => openImage({ ...input, image })));
  // After a failure the release does it, at once.
  await unlessItFails(() => removeImageKey(input));
  return planned;
}

/** Does `work` for all. The first failure breaks off the others and is thrown when all have stopped. */
async function allOrNone(images: readonly string[], work: (image: string) => Promise<void>): Promise<void> {
  const scope = new CancellationScope();
  const failures: unknown[] = [];
  await scope.run(() =>
    forEachImage(images, async (image) => {
      // Those that are still to come need not begin.
      if (failures.length > 0) return;
      await work(image).catch((error: unknown) => {
        failures.push(error);
        scope.cancel();
      });
    }),
  );
  if (failures.length > 0) throw failures[0];
}

/**
 * Makes new images of those that every layer reached and ends the session accordingly: it succeeded when its layers did and
 * every image that its limit has not left out became a new one. A check makes none, which is no failure.
 * @param exitCode where the results of hosts are not reported: the exit status of the layers, which counts for all images
 */
export async function finishImages(
  input: SessionRef,
  state: State,
  planned: PlannedImages,
  ending: Ending,
  exitCode?: number | null,
): Promise<Ending> {
  throwIfCancelled(state);
  show(state, { step: 'finish_images' });
  const faults = await judgeImages({ ...input, ...(exitCode === undefined ? {} : { exitCode }) });
  const { finishImage } = waiting(planned);
  const finished = await unlessCancelled(state, () =>
    forEachImage(planned.images, (image) => finishImage({ ...input, image, fault: faults[image] ?? null })),
  );
  throwIfCancelled(state);
  if (planned.check) return { ...ending, message: `${ending.message}; a check makes no image` };
  return withImages(ending, finished);
}

/**
 * The end of a session with what came of its images. What its limit has left out is no failure, unless nothing else was to be made.
 */
function withImages(ending: Ending, finished: readonly FinishedImage[]): Ending {
  const none = finished.filter(({ resultId }) => resultId === null);
  const leftOut = none.filter((image) => image.leftOut);
  const made = finished.length - none.length;
  const counts = `${made} of ${finished.length} images customized`;
  const said = leftOut.length === 0 ? counts : `${counts}, ${leftOut.length} left out by the limit`;
  const first = none.find((image) => !image.leftOut) ?? (made === 0 ? leftOut[0] : undefined);
  if (first === undefined || ending.succeeded !== 'true') return { ...ending, message: `${ending.message}; ${said}` };
  const message = `${said}; ${first.resultName}: ${first.message}`;
  return { succeeded: 'false', message, reason: 'image_not_customized' };
}

/** Ends what the session has left at the image service; what cannot be ended now is left to the sweep, and the end says so. */
export async function releaseImages(input: SessionRef, state: State, ending: Ending): Promise<Ending> {
  show(state, { step: 'end_images' });
  const failure = await unlessItFails(() => release(input));
  return failure === null ? ending : { ...ending, message: `${ending.message}; image jobs are left: ${failure}` };
}

/** Answers why it failed, or null. */
async function unlessItFails(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    if (error.cause instanceof ApplicationFailure) return error.cause.message;
    return imageSilence(error)?.message ?? error.cause?.message ?? error.message;
  }
}
