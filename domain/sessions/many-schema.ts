/** Commands to many sessions at once: which are meant, and what became of them. */
import { z } from 'zod';
import { HOSTLIST_BYTES } from '../components/hostlist.ts';
import { AgeSchema } from '../configurations/schema.ts';
import { REASON_MAX } from '../reason.ts';
import { RETRY_HOSTS, SESSION_STATUSES, SUCCEEDED } from './schema.ts';

/** Sessions that one request may run again: each is a transaction of its own. */
export const RETRIES_AT_ONCE = 1_000;
/** Names that one request may have. */
const NAMES_AT_ONCE = 10_000;

const CONFIGURATION_TEXT = 'Only sessions of the configuration of this name.';
const HOST_TEXT = 'Only sessions that have a result of one of these hosts, or whose limit names one: a hostlist.';

/** Filters of lists of sessions that CFS does not have; empty text filters nothing. */
export const OWN_FILTERS = {
  configuration: z.string().optional().describe(CONFIGURATION_TEXT),
  host: z.string().max(HOSTLIST_BYTES).optional().describe(HOST_TEXT),
};

/** The filters of the list of sessions, as members of a body. */
export const SessionSelectionSchema = z
  .strictObject({
    status: z.enum(SESSION_STATUSES).optional().describe('Only sessions with this status.'),
    succeeded: z.enum(SUCCEEDED).optional().describe('Only sessions with this outcome.'),
    name_contains: z.string().min(1).optional().describe('Only sessions whose name has this text in it.'),
    tags: z.string().min(1).optional().describe('Only sessions with all these tags: `key=value` with commas between.'),
    min_age: AgeSchema.min(1).optional().describe('Only sessions that started at least so long ago, such as `2h`.'),
    max_age: AgeSchema.min(1).optional().describe('Only sessions that started at most so long ago, such as `2h`.'),
    // An empty one would filter nothing, and mean all sessions.
    configuration: z.string().min(1).optional().describe(CONFIGURATION_TEXT),
    host: z.string().min(1).max(HOSTLIST_BYTES).optional().describe(HOST_TEXT),
  })
  .refine((filter) => Object.values(filter).some((value) => value !== undefined), 'must have a member')
  .meta({ id: 'SessionSelection' });
export type SessionSelection = z.infer<typeof SessionSelectionSchema>;

const ReasonTextSchema = z.string().max(REASON_MAX).describe('Why. The audit keeps it.');
const namesUpTo = (most: number) => z.array(z.string()).min(1).max(most).describe('Names of sessions.');
const oneOf = { message: 'must have either names or filter' };
const hasOne = ({ names, filter }: { names?: unknown; filter?: unknown }) =>
  (names === undefined) !== (filter === undefined);

/** Body of POST /api/v1/sessions/cancel: which sessions, of those that have not ended. What is given must all hold. */
export const SessionsCancelSchema = z
  .strictObject({
    reason: ReasonTextSchema.optional(),
    status: z
      .array(z.enum(['pending', 'running']))
      .min(1)
      .optional()
      .describe('waiting sessions, running ones, or both'),
    names: namesUpTo(NAMES_AT_ONCE).optional(),
    tags: z.string().min(1).optional().describe('`k=v,k=v`'),
    filter: SessionSelectionSchema.optional(),
  })
  .refine(
    ({ reason: _, ...chosen }) => Object.values(chosen).some((value) => value !== undefined),
    'must say which sessions: give status, names, tags or filter',
  )
  .meta({ id: 'SessionsCancel' });
export type SessionsCancel = z.infer<typeof SessionsCancelSchema>;

/** Its answer. */
export const SessionsCancelledSchema = z
  .strictObject({
    cancelled: z.int().describe('sessions that are being cancelled by this request, or have ended by it'),
    ended: z.int().describe('those of them that waited: they have ended'),
    complete: z.array(z.string()).describe('given names of sessions that are complete'),
    missing: z.array(z.string()).describe('given names that no session has'),
  })
  .meta({ id: 'SessionsCancelled' });
export type SessionsCancelled = z.infer<typeof SessionsCancelledSchema>;

/** Body of POST /api/v1/sessions/delete. */
export const SessionsDeleteSchema = z
  .strictObject({
    names: namesUpTo(NAMES_AT_ONCE).optional(),
    filter: SessionSelectionSchema.optional().describe('All sessions that match; without `status` the complete ones.'),
    reason: ReasonTextSchema.optional(),
  })
  .refine(hasOne, oneOf)
  .meta({ id: 'SessionsDelete' });
export type SessionsDelete = z.infer<typeof SessionsDeleteSchema>;

/** Its answer. */
export const SessionsDeletedSchema = z
  .strictObject({
    deleted: z.int().describe('How many sessions were deleted.'),
    cancelled: z.int().describe('How many of them had not ended, and are being cancelled.'),
    names: z.array(z.string()).describe('The names of the deleted sessions, sorted.'),
    missing: z.array(z.string()).describe('Given names that no session has.'),
  })
  .meta({ id: 'SessionsDeleted' });
export type SessionsDeleted = z.infer<typeof SessionsDeletedSchema>;

/** Body of POST /api/v1/sessions/retry. */
export const SessionsRetrySchema = z
  .strictObject({
    names: namesUpTo(RETRIES_AT_ONCE).optional(),
    filter: SessionSelectionSchema.optional().describe(
      'All sessions that match, have not succeeded and have not been retried; without `status` the complete ones.',
    ),
    hosts: z.enum(RETRY_HOSTS).optional().describe('Hosts that the layers are run on again.'),
    reason: ReasonTextSchema.optional(),
  })
  .refine(hasOne, oneOf)
  .meta({ id: 'SessionsRetry' });
export type SessionsRetry = z.infer<typeof SessionsRetrySchema>;

const RetriedSchema = z.strictObject({
  name: z.string().describe('The session that was to run again.'),
  session: z.string().describe('The session that runs: a new one, or the same where it goes on in place.'),
});
const RefusedRetrySchema = z.strictObject({
  name: z.string().describe('The session that does not run again.'),
  code: z.string().describe('Code of the refusal.'),
  message: z.string().describe('Why it does not.'),
});

/** Its answer. */
export const SessionsRetriedSchema = z
  .strictObject({
    retried: z.array(RetriedSchema).describe('Sessions that run again.'),
    refused: z.array(RefusedRetrySchema).describe('Sessions of which nothing can be run again.'),
    missing: z.array(z.string()).describe('Given names that no session has.'),
  })
  .meta({ id: 'SessionsRetried' });
export type SessionsRetried = z.infer<typeof SessionsRetriedSchema>;
