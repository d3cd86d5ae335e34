/** Shapes of what happened: audit records. Times are ISO with ms and Z. */
import { z } from 'zod';

const MembersSchema = z.record(z.string(), z.unknown());

/** One change of one record by one statement. */
export const AuditRecordSchema = z.strictObject({
  id: z.string(),
  time: z.string(),
  actor: z.string().nullable().describe('who did it; null where nobody is known'),
  action: z.string().describe('create, update, delete; of sessions also cancel, retry, finish_debug; of tokens revoke'),
  kind: z.string().describe('what was changed, such as component'),
  name: z.string().describe('which one; of a secret its name and key'),
  before: MembersSchema.nullable().describe('what changed, as it was; null for what was created'),
  after: MembersSchema.nullable().describe('what changed, as it is then; null for what was deleted'),
  request_id: z.string().nullable().describe('as in the answer header X-Request-Id and in the log'),
  via: z.string().nullable().describe('method and route of the request; null for what Muster did by itself'),
});
export type AuditRecord = z.infer<typeof AuditRecordSchema>;

/** Place in a list that is ordered by time: milliseconds since 1970 and a number. */
const CURSOR = /^[0-9]{1,13}-[0-9]{1,18}$/;

/** A page of the records, newest first; absent and empty filters filter nothing. */
export const AuditListQuerySchema = z.object({
  actor: z.string().optional().describe('such as token/ci or batcher'),
  kind: z.string().optional().describe('such as component, configuration, session, options'),
  name: z.string().optional().describe('goes well with kind'),
  action: z.string().optional(),
  since: z.iso.datetime({ offset: true }).optional().describe('from then on'),
  until: z.iso.datetime({ offset: true }).optional().describe('until then'),
  limit: z.int().min(1).max(1_000).default(100),
  after_id: z
    .string()
    .refine((value) => value === '' || CURSOR.test(value), { error: 'must be the after_id of a page before' })
    .default(''),
});
export type AuditListQuery = z.infer<typeof AuditListQuerySchema>;
