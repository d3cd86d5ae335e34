/** The short form of a deployment: one document with apps, places and settings. It is closed, so that a mistyped member is not ignored. */
import { z } from 'zod';
import { text } from '../schema.ts';
import type { Placement, PlacementElement } from './placement.ts';
import { DependsOnSchema, type GroupSettings, GroupSettingsSchema, NamespaceSchema } from './record-schema.ts';
import { NameSchema } from './schema.ts';

/** Longest name: it has to have room in a label. */
const NAME_MAX = 63;
/** Most apps of a deployment. */
const APPS_MAX = 200;
const ELEMENTS_MAX = 10_000;

const element = {
  provider: NameSchema.optional(),
  cluster: NameSchema.optional(),
  label: NameSchema.optional(),
};
interface Element {
  provider?: string | undefined;
  cluster?: string | undefined;
  label?: string | undefined;
}
const HOW = 'must have a provider, and either a cluster or a label';
const choosesOneWay = ({ provider, cluster, label }: Element) =>
  provider !== undefined && (cluster === undefined) !== (label === undefined);

const ElementsSchema = z.array(z.strictObject(element).refine(choosesOneWay, HOW)).min(1).max(ELEMENTS_MAX);

export const ShortPlacementSchema = z
  .strictObject({
    all_of: z
      .array(
        z
          .strictObject({ ...element, any_of: ElementsSchema.optional() })
          .refine((one) => choosesOneWay(one) || (one.any_of !== undefined && Object.keys(one).length === 1), HOW),
      )
      .min(1)
      .max(ELEMENTS_MAX)
      .optional()
      .describe('each cluster by its name or with the label; `any_of` inside: one cluster of each of its elements'),
    any_of: ElementsSchema.optional().describe('one cluster of all of these: the first by name'),
  })
  .refine(({ all_of, any_of }) => all_of !== undefined || any_of !== undefined, 'must have all_of or any_of');

const ShortAppSchema = z
  .strictObject({
    name: NameSchema,
    manifests: z.string().min(1).optional().describe('YAML with any number of documents'),
    bundle: z.base64().min(1).optional().describe('a `.tar.gz` with YAML files at any depth, in base64'),
    placement: ShortPlacementSchema,
    depends_on: DependsOnSchema.optional(),
    substitute: z.boolean().optional().describe('true is not built, and refused'),
  })
  .refine(({ manifests, bundle }) => (manifests === undefined) !== (bundle === undefined), {
    error: 'must have either manifests or bundle',
  });

const of = GroupSettingsSchema.shape;
const ShortSettingsSchema = z.strictObject({
  max_retries: of.maxRetries,
  retry_seconds: of.retrySeconds,
  retry_backoff: of.retryBackoff,
  unknown_fields: of.unknownFields,
  force_conflicts: of.forceConflicts,
  waves: of.waves,
  max_parallel_clusters: of.maxParallelClusters,
  failure_limit: of.failureLimit,
  reconcile: of.reconcile,
});

export const ShortDeploymentSchema = z
  .strictObject({
    name: NameSchema.refine((name) => name.length <= NAME_MAX, `must have at most ${NAME_MAX} characters`),
    description: text(0, 1024).default(''),
    namespace: NamespaceSchema.default('default').describe('of objects that name none'),
    approve: z.boolean().default(true),
    instantiate: z.boolean().default(true).describe('bring it to its clusters; it has to be approved'),
    apps: z
      .array(ShortAppSchema)
      .min(1)
      .max(APPS_MAX)
      .refine((apps) => new Set(apps.map(({ name }) => name)).size === apps.length, 'has an app twice'),
    muster: ShortSettingsSchema.optional(),
  })
  .refine(({ approve, instantiate }) => approve || !instantiate, {
    error: 'cannot be true where approve is false',
    path: ['instantiate'],
  })
  .meta({ id: 'ShortDeployment' });
export type ShortDeployment = z.infer<typeof ShortDeploymentSchema>;
export type ShortApp = ShortDeployment['apps'][number];

/** Returns the placement of an app as an app intent has it. */
export function placementOf({ all_of, any_of }: z.infer<typeof ShortPlacementSchema>): Placement {
  const elements = (each: readonly Element[]) => each.map(elementOf);
  const allOf = all_of?.map(({ any_of: inner, ...one }) => ({
    ...elementOf(one),
    ...(inner === undefined ? {} : { anyOf: elements(inner) }),
  }));
  return {
    ...(allOf === undefined ? {} : { allOf }),
    ...(any_of === undefined ? {} : { anyOf: elements(any_of) }),
  };
}

function elementOf({ provider, cluster, label }: Element): PlacementElement {
  return {
    ...(provider === undefined ? {} : { 'provider-name': provider }),
    ...(cluster === undefined ? {} : { 'cluster-name': cluster }),
    ...(label === undefined ? {} : { 'cluster-label-name': label }),
  };
}

/** Returns the settings as a deployment intent group has them. */
export function settingsOf(given: z.infer<typeof ShortSettingsSchema>): GroupSettings {
  const { max_retries, retry_seconds, retry_backoff, unknown_fields, force_conflicts } = given;
  const { waves, max_parallel_clusters, failure_limit, reconcile } = given;
  return {
    ...(max_retries === undefined ? {} : { maxRetries: max_retries }),
    ...(retry_seconds === undefined ? {} : { retrySeconds: retry_seconds }),
    ...(retry_backoff === undefined ? {} : { retryBackoff: retry_backoff }),
    ...(unknown_fields === undefined ? {} : { unknownFields: unknown_fields }),
    ...(force_conflicts === undefined ? {} : { forceConflicts: force_conflicts }),
    ...(waves === undefined ? {} : { waves }),
    ...(max_parallel_clusters === undefined ? {} : { maxParallelClusters: max_parallel_clusters }),
    ...(failure_limit === undefined ? {} : { failureLimit: failure_limit }),
    ...(reconcile === undefined ? {} : { reconcile }),
  };
}

/** Returns what a document says of a deployment, as one text; what is to be done at once is no part of it. */
export function contentOf({ approve: _, instantiate: __, ...content }: ShortDeployment): string {
  return JSON.stringify(content);
}
