/** Shapes of the image service: on the wire of its contract (cfs-flows 7), and Muster's own view of images. */

import { z } from 'zod';
import { jsonBytes } from '../json-size.ts';
import { AFTER_ID_TEXT, LIMIT_TEXT, text } from '../schema.ts';
import { IMAGE_JOB_STATUSES } from './image-service.ts';
import { ARCHITECTURES, IMAGE_FORMATS, JOB_TYPES } from './image-words.ts';

/** Longest name; CFS names sessions with at most 45 characters and results after images. */
const NameSchema = text(1, 255);
const ArchSchema = z.enum(ARCHITECTURES);
/** Keys of an image's metadata at most: its record is read as a whole, and listed. */
export const METADATA_KEYS = 256;
/** Bytes of it in all, as JSON: lists have that of many images. */
export const METADATA_BYTES = 65_536;
/** Size of an image's metadata, bytes of JSON. */
export const metadataSize = (metadata: Record<string, string>): number => jsonBytes(metadata);
const MetadataKeySchema = text(1, 255);
const MetadataValueSchema = z.string().max(4_000);
const MetadataSchema = z.record(z.string(), z.string());
/** An id of any version: whether there is such a record is another question (cfs-flows 7: 400 and 404). */
const UuidSchema = z.guid();

/** Where the content of an image is. What Muster keeps itself has the type `file` and the path of its manifest. */
const LinkSchema = z.strictObject({
  type: text(1, 64),
  path: text(1, 4_000),
  etag: z.string().max(255).optional(),
});
export type ImageLink = z.infer<typeof LinkSchema>;

export const ImageCreateSchema = z.strictObject({
  name: NameSchema,
  arch: ArchSchema.optional().describe('default: x86_64'),
  link: LinkSchema.nullable().optional(),
  metadata: z
    .record(MetadataKeySchema, MetadataValueSchema)
    .refine((metadata) => Object.keys(metadata).length <= METADATA_KEYS, {
      error: `must have at most ${METADATA_KEYS} keys`,
    })
    .refine((metadata) => metadataSize(metadata) <= METADATA_BYTES, {
      error: `must have at most ${METADATA_BYTES} bytes as JSON`,
    })
    .meta({ maxProperties: METADATA_KEYS })
    .describe('at most 64 KiB as JSON')
    .optional(),
});
export type ImageCreate = z.infer<typeof ImageCreateSchema>;

export const ImagePatchSchema = z.strictObject({
  link: LinkSchema.optional(),
  arch: ArchSchema.optional(),
  metadata: z
    .strictObject({
      operation: z.enum(['set', 'remove']),
      key: MetadataKeySchema,
      value: MetadataValueSchema.optional(),
    })
    .optional()
    .describe('sets or removes one key'),
});
export type ImagePatch = z.infer<typeof ImagePatchSchema>;

export const ImageSchema = z.object({
  id: z.string(),
  created: z.string(),
  name: z.string(),
  link: z.object({ type: z.string(), path: z.string(), etag: z.string() }).nullable(),
  arch: ArchSchema,
  metadata: MetadataSchema,
});
export type ImageView = z.infer<typeof ImageSchema>;

export const PublicKeyCreateSchema = z.strictObject({
  name: NameSchema,
  public_key: text(1, 16_384).describe('one public key as one line, as `ssh-keygen` writes it; without options'),
});
export type PublicKeyCreate = z.infer<typeof PublicKeyCreateSchema>;

export const PublicKeySchema = z.object({
  id: z.string(),
  created: z.string(),
  name: z.string(),
  public_key: z.string(),
});
export type PublicKeyView = z.infer<typeof PublicKeySchema>;

const FileNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,255}$/, 'must be the name of a file')
  .refine((name) => name !== '.' && name !== '..', { error: 'must be the name of a file' });
const gibibytes = z.int().min(1).max(100_000);

export const ImageJobCreateSchema = z.strictObject({
  job_type: z.enum(JOB_TYPES),
  image_root_archive_name: NameSchema.describe('name of the image that is to come of it'),
  artifact_id: UuidSchema.describe('the image'),
  public_key_id: UuidSchema,
  ssh_containers: z
    .array(z.strictObject({ name: NameSchema, jail: z.boolean().optional() }))
    .max(1, 'must have at most one member')
    .optional()
    .describe('default: one with the name customize, without jail'),
  enable_debug: z.boolean().optional(),
  build_env_size: gibibytes.optional().describe('largest root file system, GiB; default: 60'),
  job_mem_size: gibibytes.optional().describe('GiB; default: 8; kept and shown, limits nothing'),
  kernel_file_name: FileNameSchema.optional(),
  initrd_file_name: FileNameSchema.optional(),
  kernel_parameters_file_name: FileNameSchema.optional(),
  require_dkms: z.boolean().optional(),
});
export type ImageJobCreate = z.infer<typeof ImageJobCreateSchema>;

export const ImageJobPatchSchema = z.strictObject({
  status: z.enum(IMAGE_JOB_STATUSES).optional(),
  resultant_image_id: UuidSchema.optional(),
});
export type ImageJobPatch = z.infer<typeof ImageJobPatchSchema>;

const EndpointSchema = z.object({ host: z.string(), port: z.int() });

export const ImageJobSchema = z.object({
  id: z.string(),
  created: z.string(),
  job_type: z.enum(JOB_TYPES),
  image_root_archive_name: z.string(),
  artifact_id: z.string(),
  public_key_id: z.string(),
  ssh_containers: z.array(
    z.object({
      name: z.string(),
      jail: z.boolean(),
      status: z.literal('pending'),
      connection_info: z
        .object({ 'cluster.local': EndpointSchema, customer_access: EndpointSchema })
        .nullable()
        .describe('null until it has an address'),
    }),
  ),
  enable_debug: z.boolean(),
  build_env_size: z.int(),
  job_mem_size: z.int(),
  kernel_file_name: z.string(),
  initrd_file_name: z.string(),
  kernel_parameters_file_name: z.string(),
  require_dkms: z.boolean(),
  arch: ArchSchema,
  status: z.enum(IMAGE_JOB_STATUSES),
  message: z.string().describe('what it waits for, or why it failed; else empty'),
  resultant_image_id: z.string().nullable(),
  kubernetes_job: z.string(),
  kubernetes_service: z.string(),
  kubernetes_configmap: z.string(),
  kubernetes_pvc: z.string(),
  kubernetes_namespace: z.string(),
  kubernetes_secret: z.string(),
  remote_build_node: z.string(),
});
export type ImageJobView = z.infer<typeof ImageJobSchema>;

/** Which jobs a bulk delete is for; without any filter all. A mistyped one must not be none. */
export const ImageJobDeleteQuerySchema = z.strictObject({
  status: z.enum(IMAGE_JOB_STATUSES).optional().describe('only those in the status'),
  job_type: z.enum(JOB_TYPES).optional().describe('only those of the type'),
  age: z
    .string()
    .regex(/^[0-9]{1,6}[mhdw]$/, 'must be a number and m, h, d or w')
    .optional()
    .describe('only those that were made at least so long ago: a number and `m`, `h`, `d` or `w`'),
});
export type ImageJobDeleteQuery = z.infer<typeof ImageJobDeleteQuerySchema>;

/** An image as Muster itself shows it: with what is stored of it. */
export const StoredImageSchema = ImageSchema.extend({
  format: z.enum(IMAGE_FORMATS).nullable().describe('of its file; null while it has none here'),
  size: z.int().nullable().describe('of the file, bytes'),
  sha256: z.string().nullable(),
  made_by: z.string().nullable().describe('the image job that made it'),
  made_from: z.string().nullable().describe('the image that the job customised'),
});
export type StoredImageView = z.infer<typeof StoredImageSchema>;

/** Query of an upload; the file is the body. */
export const ImageImportQuerySchema = z.object({
  name: NameSchema.describe('what to call it'),
  arch: ArchSchema.default('x86_64').describe('for which processors'),
  sha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal digits')
    .optional()
    .describe('of the file; another one is refused'),
});
export type ImageImport = z.infer<typeof ImageImportQuerySchema>;

/** Place in the list of images, which is ordered by name and id: `ID-NAME`. So it stays one when that image is removed. */
const PLACE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-./s;

/** A page of the images, by name and id. */
export const StoredImageListQuerySchema = z.object({
  limit: z.int().min(1).max(10_000).default(1000).describe(LIMIT_TEXT),
  after_id: z
    .string()
    .refine((value) => value === '' || PLACE.test(value), { error: 'must be the after_id of a page before' })
    .default('')
    .describe(AFTER_ID_TEXT),
});
