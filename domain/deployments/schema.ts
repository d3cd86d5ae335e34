/** Shapes of the records of lane deployments. */
import { z } from 'zod';
import { AFTER_ID_TEXT, LIMIT_TEXT, text } from '../schema.ts';
import { CONNECTIVITIES } from './connectivity.ts';
import { NAME_MAX, NAME_PATTERN } from './naming.ts';

/** Name of a record. */
export const NameSchema = text(1, NAME_MAX).regex(
  NAME_PATTERN,
  'must begin and end with a letter or digit and have letters, digits, hyphen, underscore or dot between',
);

/** What every record says of itself. Unknown members are left out. */
export const MetadataSchema = z
  .object({
    name: NameSchema,
    description: text(0, 1024).default(''),
    userData1: text(0, 512).default(''),
    userData2: text(0, 512).default(''),
  })
  .meta({ id: 'RecordMetadata' });
export type Metadata = z.infer<typeof MetadataSchema>;

/** Body and answer of a record that has nothing but its metadata. */
export const PlainRecordSchema = z.object({ metadata: MetadataSchema }).meta({ id: 'PlainRecord' });
export type PlainRecord = z.infer<typeof PlainRecordSchema>;

/** Body and answer of a label. EMCO's client sends metadata with an empty name, which is not stored. */
export const ClusterLabelSchema = z.object({ 'label-name': NameSchema }).meta({ id: 'ClusterLabel' });

export const ClusterViewSchema = z
  .object({
    provider: z.string(),
    name: z.string(),
    description: z.string(),
    labels: z.array(z.string()),
    deployments: z.int().describe('deployments there that have not ended'),
    server: z.string().describe('address of the API server'),
    connectivity: z.enum(CONNECTIVITIES),
    last_seen: z.string().nullable(),
    version: z.string().nullable().describe('of the API server, when it was last seen'),
    credential_ends: z.string().nullable().describe('end of the client certificate or of the token'),
    credential_revision: z.int().describe('counted up when the credential is replaced'),
    reason: z.string().nullable().describe('why it is not reachable'),
    message: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    updated_by: z.string().nullable(),
  })
  .meta({ id: 'Cluster' });
export type ClusterView = z.infer<typeof ClusterViewSchema>;

export const ClusterListQuerySchema = z.object({
  limit: z.int().min(1).max(1000).default(100).describe(LIMIT_TEXT),
  after_id: z.string().default('').describe(AFTER_ID_TEXT),
});
