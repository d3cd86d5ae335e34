import { ERRORS, isMusterError, type MusterError, musterError } from '../../domain/errors.ts';
import type { ImageJob, ImageService } from '../../domain/images/image-service.ts';
import type { ImageJobView } from '../../domain/images/schema.ts';
import { KEY_MAX, text } from '../../domain/schema.ts';
import { createImageJob } from './create-image-job.ts';
import { deleteImageJob } from './delete-image-jobs.ts';
import type { ImageDependencies } from './ports.ts';
import { createPublicKey, deletePublicKey, publicKeyBatches } from './public-keys.ts';
import { getImageJob, imageJobBatches } from './read-image-jobs.ts';
import { getImage } from './read-images.ts';

/** What the records name as the one who asked. */
const SESSIONS = 'sessions';

/**
 * Muster's own image service, for sessions of the same installation: the functions behind its API, without HTTP. No session needs an
 * image that nobody can customise: what the API refuses for that reason is worth another try.
 */
export function createBuiltInImages(deps: ImageDependencies): ImageService {
  const acting = { actor: SESSIONS };
  return {
    getImage: (id) =>
      translated(async () => {
        const image = await getImage(deps, id);
        return { id: image.id, name: image.name };
      }),
    createPublicKey: (name, publicKey) =>
      translated(async () => (await createPublicKey(deps, acting, { name, public_key: publicKey })).id),
    findPublicKeys: (name) =>
      translated(async () =>
        (await wholeOf(publicKeyBatches(deps, name))).map(({ id, public_key }) => ({
          id,
          name,
          publicKey: public_key,
        })),
      ),
    deletePublicKey: (id) => translated(() => unlessGone(deletePublicKey(deps, id), undefined)),
    createJob: ({ imageId, resultName, publicKeyId, shellName, requireDkms }) =>
      translated(async () => {
        // The API's schema sees to it that ids are ids and names are no longer than they may be; here nothing was looked at yet.
        checkResultName(resultName);
        await getImage(deps, imageId);
        const wanted = {
          job_type: 'customize' as const,
          image_root_archive_name: resultName,
          artifact_id: imageId,
          public_key_id: publicKeyId,
          ssh_containers: [{ name: shellName, jail: true }],
          ...(requireDkms ? { require_dkms: true } : {}),
        };
        return imageJob(await createImageJob(deps, acting, wanted));
      }),
    getJob: (id) => translated(async () => unlessGone(getImageJob(deps, id).then(imageJob), null)),
    listJobs: () => translated(async () => (await wholeOf(imageJobBatches(deps))).map(imageJob)),
    deleteJob: (id) => translated(() => unlessGone(deleteImageJob(deps, id), undefined)),
  };
}

/** The name of an image is part of an index; one that is too long would be refused only when all of the image is packed. */
const ResultNameSchema = text(1, KEY_MAX);

function checkResultName(name: string): void {
  const [issue] = ResultNameSchema.safeParse(name).error?.issues ?? [];
  if (issue === undefined) return;
  const shown = name.length > SHOWN ? `${[...name.slice(0, 2 * SHOWN)].slice(0, SHOWN).join('')}...` : name;
  throw musterError('image_request_invalid', `The name of the new image '${shown}' ${issue.message}`, 'result_name');
}

/** Characters of a name that a refusal shows. */
const SHOWN = 60;

function imageJob(view: ImageJobView): ImageJob {
  return {
    id: view.id,
    status: view.status,
    imageId: view.artifact_id,
    resultName: view.image_root_archive_name,
    publicKeyId: view.public_key_id,
    resultId: view.resultant_image_id,
    shells: view.ssh_containers.map(({ name, connection_info: connection }) => ({
      name,
      connection: connection?.['cluster.local'] ?? null,
    })),
    message: view.message,
  };
}

async function wholeOf<T>(batches: AsyncGenerator<T[], void>): Promise<T[]> {
  const whole: T[] = [];
  for await (const batch of batches) whole.push(...batch);
  return whole;
}

async function unlessGone<T>(answer: Promise<T>, instead: T): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (isMusterError(error) && ERRORS[error.code].status === 404) return instead;
    throw error;
  }
}

/** In the words that sessions know. */
async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isMusterError(error) ? inSessionWords(error) : error;
  }
}

function inSessionWords(error: MusterError): MusterError {
  const { code, detail } = error;
  if (code === 'image_not_found') return musterError('image_unknown', detail);
  if (code === 'image_builder_unavailable') return musterError('image_service_unavailable', detail);
  return ERRORS[code].status < 500 ? musterError('image_service_refused', detail) : error;
}
