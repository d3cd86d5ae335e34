import { z } from 'zod';
import { createImage } from '../../../control/images/create-image.ts';
import { createImageJob } from '../../../control/images/create-image-job.ts';
import { deleteImage } from '../../../control/images/delete-image.ts';
import { deleteImageJob, deleteImageJobs } from '../../../control/images/delete-image-jobs.ts';
import { patchImage } from '../../../control/images/patch-image.ts';
import { patchImageJob } from '../../../control/images/patch-image-job.ts';
import {
  createPublicKey,
  deletePublicKey,
  getPublicKey,
  publicKeyBatches,
} from '../../../control/images/public-keys.ts';
import { getImageJob, imageJobBatches } from '../../../control/images/read-image-jobs.ts';
import { getImage, imageBatches } from '../../../control/images/read-images.ts';
import {
  ImageCreateSchema,
  ImageJobCreateSchema,
  ImageJobDeleteQuerySchema,
  ImageJobPatchSchema,
  ImageJobSchema,
  ImagePatchSchema,
  ImageSchema,
  PublicKeyCreateSchema,
  PublicKeySchema,
} from '../../../domain/images/schema.ts';
import { acting } from '../../acting.ts';
import { NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { sendArray } from '../../server/list-answer.ts';
import type { ImageApi } from './dependencies.ts';
import { refuseAsUnprocessable } from './unprocessable.ts';

const idOf = (what: string) => z.object({ id: z.string().describe(`id of the ${what}`) });
const image = idOf('image');
const key = idOf('public key');
const job = idOf('image job');
const tags = ['image service'];

/** The image service's contract (cfs-flows 7), below one of its prefixes. */
export async function imsRoutes(app: ApiServer, deps: ImageApi): Promise<void> {
  refuseAsUnprocessable(app);
  imageRecords(app, deps);
  publicKeys(app, deps);
  imageJobs(app, deps);
}

function imageRecords(app: ApiServer, deps: ImageApi): void {
  app.get(
    '/images',
    {
      schema: { tags, summary: 'List all images by name', response: { 200: z.array(ImageSchema) } },
      config: { access: 'reader', class: 'list' },
    },
    async (_request, reply) => sendArray(reply, imageBatches(deps)),
  );
  app.post(
    '/images',
    {
      schema: {
        tags,
        summary: 'Make the record of an image whose content is elsewhere',
        body: ImageCreateSchema.meta({
          examples: { elsewhere: { name: 'compute', link: { type: 's3', path: 's3://boot-images/1/manifest.json' } } },
        }),
        response: { 201: ImageSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['image_reference_unknown'] },
    },
    async (request, reply) => reply.code(201).send(await createImage(deps, acting(request), request.body)),
  );
  app.get(
    '/images/:id',
    {
      schema: { tags, summary: 'Read an image', params: image, response: { 200: ImageSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['image_not_found'] },
    },
    ({ params: { id } }) => getImage(deps, id),
  );
  app.patch(
    '/images/:id',
    {
      schema: {
        tags,
        summary: 'Change link, architecture or one key of the metadata',
        params: image,
        body: ImagePatchSchema,
        response: { 200: ImageSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['image_not_found', 'image_reference_unknown'] },
    },
    (request) => patchImage(deps, acting(request), request.params.id, request.body),
  );
  app.delete(
    '/images/:id',
    {
      schema: { tags, summary: 'Remove an image with its file', params: image, response: { 204: NoContentSchema } },
      config: { access: 'operator', class: 'quick', refuses: ['image_not_found', 'image_in_use'] },
    },
    async ({ params: { id } }, reply) => {
      await deleteImage(deps, id);
      return reply.code(204).send();
    },
  );
}

function publicKeys(app: ApiServer, deps: ImageApi): void {
  app.get(
    '/public-keys',
    {
      schema: { tags, summary: 'List all public keys by name', response: { 200: z.array(PublicKeySchema) } },
      config: { access: 'reader', class: 'list' },
    },
    async (_request, reply) => sendArray(reply, publicKeyBatches(deps)),
  );
  app.post(
    '/public-keys',
    {
      schema: {
        tags,
        summary: 'Make a public key known',
        body: PublicKeyCreateSchema.meta({
          examples: {
            key: {
              name: 'me',
              public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG0QDp66ka6wisVUOtzGZZVxOVAAwBeT6jeRy/mrYjdO me',
            },
          },
        }),
        response: { 201: PublicKeySchema },
      },
      config: { access: 'operator', class: 'quick' },
    },
    async (request, reply) => reply.code(201).send(await createPublicKey(deps, acting(request), request.body)),
  );
  app.get(
    '/public-keys/:id',
    {
      schema: { tags, summary: 'Read a public key', params: key, response: { 200: PublicKeySchema } },
      config: { access: 'reader', class: 'quick', refuses: ['image_key_not_found'] },
    },
    ({ params: { id } }) => getPublicKey(deps, id),
  );
  app.delete(
    '/public-keys/:id',
    {
      schema: { tags, summary: 'Remove a public key', params: key, response: { 204: NoContentSchema } },
      config: { access: 'operator', class: 'quick', refuses: ['image_key_not_found'] },
    },
    async ({ params: { id } }, reply) => {
      await deletePublicKey(deps, id);
      return reply.code(204).send();
    },
  );
}

function imageJobs(app: ApiServer, deps: ImageApi): void {
  app.get(
    '/jobs',
    {
      schema: { tags, summary: 'List all image jobs, oldest first', response: { 200: z.array(ImageJobSchema) } },
      config: { access: 'reader', class: 'list' },
    },
    async (_request, reply) => sendArray(reply, imageJobBatches(deps)),
  );
  app.post(
    '/jobs',
    {
      schema: {
        tags,
        summary: 'Customise an image: it is unpacked, and a shell in it opens for the public key',
        body: ImageJobCreateSchema,
        response: { 201: ImageJobSchema },
      },
      config: {
        access: 'operator',
        class: 'remote',
        refuses: ['image_reference_unknown', 'image_builder_unavailable'],
      },
    },
    async (request, reply) => reply.code(201).send(await createImageJob(deps, acting(request), request.body)),
  );
  app.delete(
    '/jobs',
    {
      schema: {
        tags,
        summary: 'Delete all image jobs that match',
        querystring: ImageJobDeleteQuerySchema,
        response: { 204: NoContentSchema },
      },
      config: { access: 'operator', class: 'remote' },
    },
    async (request, reply) => {
      await deleteImageJobs(deps, request.query);
      return reply.code(204).send();
    },
  );
  app.get(
    '/jobs/:id',
    {
      schema: { tags, summary: 'Read an image job', params: job, response: { 200: ImageJobSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['image_job_not_found'] },
    },
    ({ params: { id } }) => getImageJob(deps, id),
  );
  app.patch(
    '/jobs/:id',
    {
      schema: {
        tags,
        summary: 'Set an open image job to error; all else is for its own worker',
        params: job,
        body: ImageJobPatchSchema,
        response: { 200: ImageJobSchema },
      },
      config: {
        access: 'operator',
        class: 'remote',
        refuses: ['image_job_not_found', 'image_reference_unknown', 'image_job_status'],
      },
    },
    (request) => patchImageJob(deps, acting(request), request.params.id, request.body),
  );
  app.delete(
    '/jobs/:id',
    {
      schema: {
        tags,
        summary: 'Delete an image job with everything of it',
        params: job,
        response: { 204: NoContentSchema },
      },
      config: { access: 'operator', class: 'remote', refuses: ['image_job_not_found'] },
    },
    async ({ params: { id } }, reply) => {
      await deleteImageJob(deps, id);
      return reply.code(204).send();
    },
  );
}
