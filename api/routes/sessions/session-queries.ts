/** Query parameters of lists of sessions, shared by the CFS routes and Muster's own. */

import { z } from 'zod';
import { AgeSchema } from '../../../domain/configurations/schema.ts';
import { AFTER_ID_TEXT, LIMIT_TEXT } from '../../../domain/schema.ts';
import { SESSION_STATUSES, SUCCEEDED } from '../../../domain/sessions/schema.ts';

/** Of routes that read one session. */
export const SessionIdQuerySchema = z.object({
  id: z
    .uuid()
    .optional()
    .describe('Id of the session that is meant: where another one has the name now, that is refused.'),
});

export const SessionFilterQuerySchema = z.object({
  status: z
    .enum([...SESSION_STATUSES, ''])
    .optional()
    .describe('Only records with this status. An empty text filters nothing.'),
  succeeded: z
    .enum([...SUCCEEDED, ''])
    .optional()
    .describe('Only sessions with this outcome. An empty text filters nothing.'),
  name_contains: z.string().optional().describe('Only sessions whose name has this text in it.'),
  tags: z.string().optional().describe('Only records with all these tags: `key=value` with commas between them.'),
  age: AgeSchema.optional().describe('Old name of `min_age`, which wins if both are given.'),
  min_age: AgeSchema.optional().describe(
    'Only sessions that started at least so long ago: a number and `m`, `h`, `d` or `w`.',
  ),
  max_age: AgeSchema.optional().describe(
    'Only sessions that started at most so long ago: a number and `m`, `h`, `d` or `w`.',
  ),
});

/** In v2 empty text is no status (cfs-api 3). */
export const V2SessionFilterQuerySchema = SessionFilterQuerySchema.extend({
  status: z.enum(SESSION_STATUSES).optional().describe('Only records with this status. An empty text filters nothing.'),
  succeeded: z.enum(SUCCEEDED).optional().describe('Only sessions with this outcome. An empty text filters nothing.'),
});

export const SessionListQuerySchema = SessionFilterQuerySchema.extend({
  limit: z.int().min(1).optional().describe(LIMIT_TEXT),
  after_id: z.string().optional().describe(AFTER_ID_TEXT),
});
export type SessionListQuery = z.infer<typeof SessionListQuerySchema>;

/** The `next` of a page: every parameter with the value used, `after_id` of the last record (cfs-api 3). */
export function nextPage(query: SessionListQuery, limit: number, last: string): Record<string, unknown> {
  return {
    age: query.age ?? null,
    min_age: query.min_age ?? null,
    max_age: query.max_age ?? null,
    status: query.status ?? null,
    name_contains: query.name_contains ?? null,
    succeeded: query.succeeded ?? null,
    tags: query.tags ?? null,
    limit,
    after_id: last,
  };
}

/** Name in a path. Any text: one that cannot be a session's name is not found. */
export const SessionNameParamsSchema = z.object({ session_name: z.string().describe('Name of the session.') });
