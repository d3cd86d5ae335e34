/** Selections of components, and actions on them. */
import { z } from 'zod';
import { KEY_MAX, TagsSchema, text } from '../schema.ts';
import { DRIFT_STATUSES } from './drift-schema.ts';
import { HOSTLIST_BYTES, HOSTLIST_NAMES } from './hostlist.ts';
import { CONFIGURATION_STATUSES, ComponentFilterSchema } from './schema.ts';

/** Minutes that a selection is kept. */
export const SELECTION_MINUTES = 15;
/** Ids of a selection that its answer shows. */
export const SELECTION_SAMPLE = 20;

export const HostsSchema = z
  .string()
  .max(HOSTLIST_BYTES)
  .describe('A hostlist: names and ranges such as `n[1-4],!n3`, members of a tag as `@role=compute`.');

/** A part of an id, in any case. */
export const TextInIdSchema = text(0, KEY_MAX).describe('Only components whose id has this text in it, in any case.');

/** Body of POST /api/v1/hostlists. */
export const HostlistBodySchema = z.strictObject({ hosts: HostsSchema }).meta({ id: 'HostlistBody' });
export const HostlistAnswerSchema = z
  .object({ names: z.array(z.string()).describe('The names that it means, without doubles, in natural order.') })
  .meta({ id: 'HostlistNames' });

export const FailureSchema = z
  .string()
  .regex(/^f[0-9a-f]{15}$/)
  .describe(
    'Only components that have failed, the last time with this: id of a failure, as `GET /fleet/attention` names it.',
  );

export const DriftSchema = z
  .enum(DRIFT_STATUSES)
  .describe('Only components of which the last check found this of some layer.');

const SelectionFilterSchema = ComponentFilterSchema.omit({ ids: true })
  .extend({
    hosts: HostsSchema.optional(),
    text: TextInIdSchema.optional(),
    failure: FailureSchema.optional(),
    drift: DriftSchema.optional(),
    changed_since: z.iso.datetime().optional().describe('Only components whose record changed after this time.'),
  })
  .strict()
  .describe('Components to which all members apply; without a member all components.');

/** Which components are meant: by a filter, or by their ids. */
export const SelectorSchema = z
  .union(
    [
      z.strictObject({ filter: SelectionFilterSchema }),
      z.strictObject({ ids: z.array(text(1, KEY_MAX)).min(1).max(HOSTLIST_NAMES) }),
    ],
    { error: 'must be an object with the one member filter, or with the one member ids' },
  )
  .meta({ id: 'ComponentSelector' });
export type Selector = z.infer<typeof SelectorSchema>;

/** Answer of POST /api/v1/components/selections. */
export const SelectionSchema = z
  .object({
    id: z.uuid().describe('Names the selection to an action.'),
    count: z.int().describe('Components in it.'),
    by_status: z.record(z.enum(CONFIGURATION_STATUSES), z.int()).describe('How many of them have each status.'),
    sample: z.array(z.string()).describe(`The first ids of it, ${SELECTION_SAMPLE} at most.`),
    unknown: z.array(z.string()).describe('Ids that were named and are of no component.'),
    expires_at: z.iso.datetime().describe('When it is forgotten.'),
  })
  .meta({ id: 'ComponentSelection' });
export type Selection = z.infer<typeof SelectionSchema>;

const SelectedSchema = z
  .union([z.uuid(), SelectorSchema], { error: 'must be the id of a selection, or an object with filter or ids' })
  .describe('The id of a selection, or which components are meant now.');

const DesiredConfigSchema = text(0, 60).describe('Name of the configuration; empty for none.');
const TagChangesSchema = TagsSchema.describe('Tags to set; an empty value takes the tag away.');

const action = <Name extends string>(name: Name) =>
  z.strictObject({ action: z.literal(name), selection: SelectedSchema });
const actionWith = <Name extends string, Args extends z.ZodType>(name: Name, args: Args) =>
  z.strictObject({ action: z.literal(name), selection: SelectedSchema, args });

/** Body of POST /api/v1/components/actions: what is done, with what it needs, and to which components. */
export const ActionBodySchema = z
  .discriminatedUnion('action', [
    action('enable'),
    action('disable'),
    action('clear_state'),
    action('reset_errors'),
    action('delete'),
    actionWith('set_desired', z.strictObject({ desired_config: DesiredConfigSchema })),
    actionWith('set_tags', z.strictObject({ tags: TagChangesSchema })),
    actionWith(
      'set',
      z
        .strictObject({
          desired_config: DesiredConfigSchema.optional(),
          tags: TagChangesSchema.optional(),
          retry_policy: z.int().optional().describe('Tries of a configuration; -1 for no end.'),
        })
        .refine((args) => Object.keys(args).length > 0, 'must have a member: desired_config, tags or retry_policy'),
    ),
  ])
  .meta({ id: 'ComponentAction' });
export type ActionBody = z.infer<typeof ActionBodySchema>;

/** Answer of POST /api/v1/components/actions. */
export const ActionAnswerSchema = z
  .object({
    changed: z.int().describe('Components that are different now, or are gone after `delete`.'),
    unchanged: z.int().describe('Components that were so already.'),
    vanished: z.array(z.string()).describe('Ids of the selection that are of no component any more.'),
    warnings: z.array(z.string()).describe('What is odd about the result.'),
  })
  .meta({ id: 'ComponentActionResult' });
export type ActionAnswer = z.infer<typeof ActionAnswerSchema>;
