/** Shapes of a dry run: a request that is really made and taken back, and what it would change. */
import { z } from 'zod';

/** Changes that an answer shows. */
export const SHOWN_CHANGES = 20;

const MembersSchema = z.record(z.string(), z.unknown()).nullable();

export const DryRunSchema = z
  .strictObject({
    method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).describe('Method of the request.'),
    path: z
      .string()
      .max(10_000)
      .regex(/^\/[^?#\s]*$/, 'must be a path that begins with /, without query')
      .describe('Path of the request, as it would be asked for.'),
    query: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .optional()
      .describe('Its query parameters.'),
    body: z.unknown().optional().describe('Its body.'),
  })
  .meta({ id: 'DryRun' });
export type DryRun = z.infer<typeof DryRunSchema>;

const ChangeSchema = z
  .strictObject({
    kind: z.string().describe('What would be changed, such as component.'),
    name: z.string().describe('Which one.'),
    action: z.string().describe('What would be done to it, as the audit would say it.'),
    before: MembersSchema.describe('What would change, as it is; null for what would be created.'),
    after: MembersSchema.describe('What would change, as it would be; null for what would be deleted.'),
  })
  .meta({ id: 'DryRunChange' });
export type DryRunChange = z.infer<typeof ChangeSchema>;

const BecomesSchema = z
  .strictObject({
    from: z.string().nullable().describe('Status now; null for components that would be created.'),
    to: z.string().nullable().describe('Status then; null for components that would be deleted.'),
    count: z.int().describe('How many components.'),
    ids: z.array(z.string()).describe('The first of them.'),
  })
  .meta({ id: 'DryRunBecomes' });
export type DryRunBecomes = z.infer<typeof BecomesSchema>;

const HostsSchema = z
  .strictObject({
    names: z.array(z.string()).describe('Hosts that the session would be limited to; the first of them.'),
    count: z.int().describe('How many hosts they are.'),
    unknown: z.string().nullable().describe('Why they are not known; null where they are.'),
  })
  .meta({ id: 'DryRunHosts' });
export type DryRunHosts = z.infer<typeof HostsSchema>;

export const DryRunAnswerSchema = z
  .strictObject({
    status: z.int().describe('Status that the request would be answered with.'),
    answer: z.unknown().describe('Its answer; null for an empty one.'),
    total: z.int().describe('Records that the request means.'),
    changed: z.int().describe('Records that it would change.'),
    unchanged: z.int().describe('Records that are so already.'),
    changes: z.array(ChangeSchema).describe('The first changes.'),
    becomes: z
      .array(BecomesSchema)
      .describe('Components by the status that they have and the one that they would have.'),
    hosts: HostsSchema.nullable().describe('Hosts of the session that would be made; null where none would be.'),
    warnings: z.array(z.string()).describe('What is not as the request may think.'),
  })
  .meta({ id: 'DryRunAnswer' });
export type DryRunAnswer = z.infer<typeof DryRunAnswerSchema>;
