import { Readable } from 'node:stream';
import { z } from 'zod';
import { deleteImage } from '../../../control/images/delete-image.ts';
import { exportImage } from '../../../control/images/export-image.ts';
import { importImage } from '../../../control/images/import-image.ts';
import { getStoredImage, pageOfImages } from '../../../control/images/read-images.ts';
import {
  ImageImportQuerySchema,
  StoredImageListQuerySchema,
  StoredImageSchema,
} from '../../../domain/images/schema.ts';
import { acting } from '../../acting.ts';
import { NextSchema, NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { sendList } from '../../server/list-answer.ts';
import type { ImageApi } from './dependencies.ts';
import { takeUpload } from './uploads.ts';

const params = z.object({ image: z.string().describe('id of the image') });
const tags = ['images'];
const BYTES = ['application/octet-stream'] as const;

/** Images with their files: what the contract of the image service leaves to a store of its own. */
export async function imageRoutes(app: ApiServer, deps: ImageApi): Promise<void> {
  app.get(
    '/images',
    {
      schema: {
        tags,
        summary: 'List images by name, with what is stored of them',
        querystring: StoredImageListQuerySchema,
        response: { 200: z.object({ images: z.array(StoredImageSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list' },
    },
    async ({ query: { limit, after_id } }, reply) => {
      const { batches, next } = pageOfImages(deps, after_id, limit);
      return sendList(reply, 'images', batches, (last, isCut) => {
        const after = next(last, isCut);
        return after === null ? null : { limit, after_id: after };
      });
    },
  );

  await app.register(async (scope: ApiServer) => {
    const upload = takeUpload(scope, deps);
    scope.post(
      '/images',
      {
        schema: {
          tags,
          summary: 'Import the file of a root file system as a new image',
          description:
            'The body is the file: a tar, a tar that gzip has packed, or a squashfs. An `Idempotency-Key` is refused: the file is not kept for comparison.',
          consumes: BYTES,
          querystring: ImageImportQuerySchema,
          response: { 201: StoredImageSchema },
        },
        config: {
          access: 'operator',
          class: 'free',
          refuses: [
            'image_format_unknown',
            'image_checksum_wrong',
            'image_too_large',
            'image_disk_full',
            'image_builder_unavailable',
          ],
        },
      },
      async (request, reply) => {
        const made = await upload(request, (bytes) => importImage(deps, acting(request), request.query, bytes));
        return reply.code(201).send(made);
      },
    );
  });

  app.get(
    '/images/:image',
    {
      schema: { tags, summary: 'Read an image', params, response: { 200: StoredImageSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['image_not_found'] },
    },
    ({ params }) => getStoredImage(deps, params.image),
  );

  app.get(
    '/images/:image/content',
    {
      schema: {
        tags,
        summary: 'Export the file of an image',
        params,
        produces: BYTES,
        response: { 200: z.string().describe('the file') },
      },
      // The file may hold what only root of the image is to read.
      config: { access: 'operator', class: 'list', refuses: ['image_not_found', 'image_file_missing'] },
    },
    async ({ params, method }, reply) => {
      const { name, size, sha256, bytes } = await exportImage(deps, params.image);
      reply.headers({
        'content-type': 'application/octet-stream',
        'content-length': String(size),
        'content-disposition': `attachment; filename="${name}"`,
        ...(sha256 === null ? {} : { etag: `"${sha256}"` }),
      });
      // For HEAD the file is not even opened.
      return reply.send(Readable.from(method === 'HEAD' ? [] : bytes) as never);
    },
  );

  app.delete(
    '/images/:image',
    {
      schema: { tags, summary: 'Remove an image with its file', params, response: { 204: NoContentSchema } },
      config: { access: 'operator', class: 'quick', refuses: ['image_not_found', 'image_in_use'] },
    },
    async ({ params }, reply) => {
      await deleteImage(deps, params.image);
      return reply.code(204).send();
    },
  );
}
