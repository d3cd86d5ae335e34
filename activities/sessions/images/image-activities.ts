/** The activities of a session's images as Temporal calls them. */
import { judgeImages } from '../../../control/sessions/images/judge-images.ts';
import { noteImages } from '../../../control/sessions/images/session-images.ts';
import { loadSession, noteProgress } from '../../../control/sessions/session-progress.ts';
import {
  FinishImageSchema,
  ImageRefSchema,
  JudgeImagesSchema,
  SessionRefSchema,
} from '../../../domain/sessions/activity-schema.ts';
import { isCheck } from '../../../domain/sessions/check-mode.ts';
import { runnerOf } from '../../../domain/sessions/cluster/cluster-wait.ts';
import { imageHosts } from '../../../domain/sessions/images/image-inventory.ts';
import {
  imageKeyName,
  imagesOf,
  mappedName,
  resultNameOf,
  serviceImageId,
} from '../../../domain/sessions/images/image-names.ts';
import {
  listSessionImages,
  saveSessionImages,
  writeImageKey,
  writeImageKeyPosted,
} from '../../../store/sessions/session-images.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import { type InputSchemas, parseInputs } from '../../parse-inputs.ts';
import type { ImageActivities, PlannedImages } from '../image-contract.ts';
import type { ImageDependencies } from '../image-ports.ts';
import { onSession, onStep } from '../report-failure.ts';
import { finishImage } from './finish-image.ts';
import { createImageLooks } from './image-looks.ts';
import { serviceOf } from './image-waiting.ts';
import { imagesReleased, openImage } from './open-image.ts';
import { deleteImageKey, releaseImages } from './release-images.ts';

const INPUTS: InputSchemas<ImageActivities> = {
  planImages: SessionRefSchema,
  makeImageKey: SessionRefSchema,
  openImage: ImageRefSchema,
  removeImageKey: SessionRefSchema,
  judgeImages: JudgeImagesSchema,
  finishImage: FinishImageSchema,
  releaseImages: SessionRefSchema,
};

export function createImageActivities(deps: ImageDependencies): ImageActivities {
  const { db } = deps;
  const looking = createImageLooks();
  return parseInputs(INPUTS, {
    planImages: ({ sessionId }) =>
      onSession(deps, sessionId, { phase: 'images', what: 'looking up the images' }, (session, signal) =>
        planImages(deps, session, signal),
      ),
    makeImageKey: ({ sessionId }) =>
      onSession(deps, sessionId, { phase: 'images', what: 'the key for images' }, (session, signal) =>
        makeImageKey(deps, session, signal),
      ),
    openImage: (input) => withHeartbeat((signal) => looking(() => openImage(deps, input, signal))),
    removeImageKey: ({ sessionId }) => withHeartbeat((signal) => removeImageKey(deps, sessionId, signal)),
    judgeImages: ({ sessionId, exitCode }) =>
      withHeartbeat(async () => judgeImages(deps, await loadSession(db, sessionId), exitCode)),
    finishImage: (input) => withHeartbeat((signal) => looking(() => finishImage(deps, input, signal))),
    releaseImages: ({ sessionId }) =>
      onStep(deps, sessionId, { phase: 'teardown', what: 'ending the image jobs' }, (signal) =>
        releaseImages(deps, sessionId, signal),
      ),
  });
}

/** Gives each distinct image the name of its result and records it (cfs-flows 3.3). Throws `image_unknown` and `inventory_invalid`. */
async function planImages(deps: ImageDependencies, session: SessionRow, signal: AbortSignal): Promise<PlannedImages> {
  const { db, imageWaitSeconds: waitSeconds, imageQueueSeconds: queueSeconds } = deps;
  const service = serviceOf(deps);
  const { id: sessionId, name, target } = session;
  // Refuses a group now that would be refused when all images are open.
  imageHosts(target);
  const images: { image: string; resultName: string }[] = [];
  for (const image of imagesOf(target)) {
    const resultName =
      mappedName(target, image) ?? resultNameOf((await service.getImage(serviceImageId(image), signal)).name, name);
    images.push({ image, resultName });
  }
  await saveSessionImages(db, sessionId, images, deps.clock());
  await noteImages(deps, sessionId, 'images');
  const planned = { images: images.map(({ image }) => image), waitSeconds, queueSeconds };
  return isCheck(session) ? { ...planned, check: true } : planned;
}

/** Makes the public half of the session's key known to the image service, once: one whose answer was lost is found again. */
async function makeImageKey(deps: ImageDependencies, session: SessionRow, signal: AbortSignal): Promise<void> {
  const { db, imageKeys } = deps;
  const { id: sessionId } = session;
  const service = serviceOf(deps);
  if ((await listSessionImages(db, sessionId)).some((row) => row.released_at !== null)) throw imagesReleased(session);
  const { publicKey } = await imageKeys.ensure(session);
  const name = imageKeyName(session.name);
  const there = await service.findPublicKeys(name, signal);
  const known = there.find((key) => key.publicKey.trim() === publicKey.trim());
  if (known === undefined) await writeImageKeyPosted(db, sessionId, deps.clock());
  const id = known?.id ?? (await service.createPublicKey(name, publicKey, signal));
  await writeImageKey(db, sessionId, id);
}

/** Takes the key back when all shells are open, the last thing before the layers; on a cluster these need a worker that has one. */
async function removeImageKey(deps: ImageDependencies, sessionId: string, signal: AbortSignal): Promise<void> {
  const { db, defaultRunner } = deps;
  const session = await loadSession(db, sessionId);
  try {
    await deleteImageKey(deps, session, signal);
  } finally {
    // The session goes on without that, too.
    if (runnerOf(session, defaultRunner) === 'kubernetes') await noteProgress(deps, sessionId, { step: 'cluster' });
  }
}
