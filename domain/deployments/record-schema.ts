/** Bodies and answers of placement records. They are lenient: members that are not named here are left out, as EMCO's server does. */
import { z } from 'zod';
import { text } from '../schema.ts';
import { MetadataSchema, NameSchema } from './schema.ts';

/** What every record is stored and answered as; what `spec` holds depends on the kind. */
export const StoredRecordSchema = z
  .object({ metadata: MetadataSchema, spec: z.record(z.string(), z.unknown()).optional() })
  .meta({ id: 'PlacementRecord' });
export type StoredRecord = z.infer<typeof StoredRecordSchema>;

export const CompositeAppSchema = z
  .object({ metadata: MetadataSchema, spec: z.object({ version: NameSchema }) })
  .meta({ id: 'CompositeApp' });

/** Names of the apps that an app waits for. */
export const DependsOnSchema = z
  .array(NameSchema)
  .max(200)
  .describe('apps of the same deployment: this one begins when they have been applied on all their clusters');

export const AppSchema = z
  .object({
    metadata: MetadataSchema,
    spec: z
      .object({
        dependsOn: DependsOnSchema.optional(),
        muster: z
          .strictObject({ substitute: z.boolean().optional().describe('true is not built, and refused') })
          .optional(),
      })
      .optional(),
  })
  .meta({ id: 'App' });
export type AppRecord = z.infer<typeof AppSchema>;

export const AppProfileSchema = z
  .object({ metadata: MetadataSchema, spec: z.object({ 'app-name': NameSchema }) })
  .meta({ id: 'AppProfile' });

const words = text(0, 128);

/** What is described and not built, whatever it says: who asks for it hears so, and not that it is mistyped. */
const notBuilt = z.unknown().optional().describe('not built, and refused');

/** Settings of one deployment. It is closed, so that a mistyped setting is not ignored. */
export const GroupSettingsSchema = z
  .strictObject({
    maxRetries: z.int().min(-1_000_000_000).max(999_999_999).optional().describe('negative: for ever'),
    retrySeconds: z.number().min(0.1).max(3_600).optional(),
    retryBackoff: z.number().min(1).max(10).optional(),
    unknownFields: z.enum(['refuse', 'drop']).optional(),
    forceConflicts: z.boolean().optional(),
    waves: notBuilt,
    maxParallelClusters: notBuilt,
    failureLimit: notBuilt,
    reconcile: notBuilt,
  })
  .meta({ id: 'DeploymentSettings' });
export type GroupSettings = z.infer<typeof GroupSettingsSchema>;

/** The same, frozen in an AppContext. */
export interface ContextSettings extends GroupSettings {
  /** What each app waits for, of those that wait. */
  waits?: Readonly<Record<string, readonly string[]>>;
}

export const GroupSchema = z
  .object({
    metadata: MetadataSchema,
    spec: z.object({
      profile: NameSchema,
      version: NameSchema,
      'logical-cloud': NameSchema,
      'override-values': z
        .array(z.object({ 'app-name': NameSchema, values: z.record(words, words) }))
        .max(1_000)
        .optional(),
      muster: GroupSettingsSchema.optional(),
    }),
  })
  .meta({ id: 'DeploymentIntentGroup' });
export type GroupRecord = z.infer<typeof GroupSchema>;

export const IntentSchema = z
  .object({ metadata: MetadataSchema, spec: z.object({ intent: z.record(words, text(1, 128)) }) })
  .meta({ id: 'DeploymentIntent' });
export type IntentRecord = z.infer<typeof IntentSchema>;

export const PlacementIntentSchema = z
  .object({ metadata: MetadataSchema, spec: z.object({ 'logical-cloud': words.optional() }).optional() })
  .meta({ id: 'PlacementIntent' });

const ElementSchema = z.object({
  'provider-name': words.optional(),
  'cluster-name': words.optional(),
  'cluster-label-name': words.optional(),
});
const ElementsSchema = z.array(ElementSchema).max(10_000);

export const AppIntentSchema = z
  .object({
    metadata: MetadataSchema,
    spec: z.object({
      'app-name': NameSchema,
      intent: z.object({
        allOf: z
          .array(ElementSchema.extend({ anyOf: ElementsSchema.optional() }))
          .max(10_000)
          .optional(),
        anyOf: ElementsSchema.optional(),
      }),
    }),
  })
  .meta({ id: 'AppIntent' });
export type AppIntentRecord = z.infer<typeof AppIntentSchema>;

/** Name of a namespace. */
export const NamespaceSchema = text(1, 63).regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'must be the name of a namespace');

export const CloudSchema = z
  .object({
    metadata: MetadataSchema,
    spec: z
      .object({
        level: text(0, 8)
          .optional()
          .describe('`0`: Muster makes nothing in the clusters for it; other levels are not built'),
        namespace: NamespaceSchema.optional().describe('of objects that name none; default: `default`'),
      })
      .optional(),
  })
  .meta({ id: 'LogicalCloud' });
export type CloudRecord = z.infer<typeof CloudSchema>;

export const ClusterReferenceSchema = z
  .object({
    metadata: MetadataSchema,
    spec: z.object({
      'cluster-provider': NameSchema,
      'cluster-name': NameSchema,
      'loadbalancer-ip': words.optional(),
    }),
  })
  .meta({ id: 'ClusterReference' });
export type ClusterReferenceRecord = z.infer<typeof ClusterReferenceSchema>;

/** Values of a cluster: a list of maps with one entry each, as EMCO has them. */
export const KvPairsSchema = z
  .object({
    metadata: MetadataSchema,
    spec: z.object({
      kv: z
        .array(
          z
            .record(text(1, 128), words)
            .refine((entry) => Object.keys(entry).length === 1, 'must have one key with its value'),
        )
        .max(1_000),
    }),
  })
  .meta({ id: 'KvPairs' });
export type KvPairsRecord = z.infer<typeof KvPairsSchema>;

/** Returns the value of a key, of which the first counts; null where no map has it. */
export function valueOfKey({ spec: { kv } }: Pick<KvPairsRecord, 'spec'>, key: string): string | null {
  const entry = kv.find((one) => Object.hasOwn(one, key));
  return entry?.[key] ?? null;
}

export const ControllerSchema = z
  .object({
    metadata: MetadataSchema,
    spec: z.object({
      host: text(0, 255).optional(),
      port: z.int().min(0).max(50_000).optional(),
      type: words.optional(),
      priority: z.int().min(0).max(100).optional(),
    }),
  })
  .meta({ id: 'Controller' });

/** Answer of an accepted life-cycle call. */
export const AcceptedCallSchema = z
  .object({ instance: z.string().describe('id of the AppContext; empty without one'), state: z.string() })
  .meta({ id: 'AcceptedCall' });
export type AcceptedCall = z.infer<typeof AcceptedCallSchema>;

/** All values of each parameter; what they may be is `status-query.ts`. */
const values = z.array(z.string()).optional();
const FIRST = 'of a repeated parameter the first counts';

export const StatusQuerySchema = z.object({
  type: values.describe(
    `\`rsync\` (default): what was applied; \`cluster\`: what is there; \`all\`: both joined; ${FIRST}`,
  ),
  output: values.describe(`\`summary\`, \`apps\`, \`clusters\`, \`all\` (default) or \`detail\`; ${FIRST}`),
  instance: values.describe(`id of an AppContext; default: the current one; ${FIRST}`),
  format: values.describe(`\`legacy\`: the older shape; ${FIRST}`),
  app: values.describe('keep these apps'),
  cluster: values.describe('keep these clusters, `<provider>+<cluster>` with `+` sent as `%2B`'),
  resource: values.describe('keep objects of these names'),
});

export const StatusAnswerSchema = z.record(z.string(), z.unknown()).meta({ id: 'DeploymentStatus' });
