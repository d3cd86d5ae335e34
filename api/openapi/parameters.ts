import { z } from 'zod';
import type { DescribedRoute } from './described-routes.ts';
import type { JsonSchema, JsonSchemas } from './json-schemas.ts';

/** What each parameter means, by its name; the same name means the same everywhere. */
export const PARAMETER_TEXTS: Record<string, string> = {
  // in paths
  component_id: 'Id of the component.',
  configuration_id: 'Name of the configuration.',
  source_id: 'Name of the source. A name with slashes is URL-encoded twice (`%252F`); once is accepted too.',
  session_name: 'Name of the session.',
  name: 'Name of the secret: a lower-case DNS name.',
  key: 'Key of the value within the secret.',
  token: 'Id or name of the token.',
  schedule: 'Name of the schedule.',
  run: 'Id of the run.',
  // of pages
  limit: 'Most records of the page. Default of the CFS lists: the option `default_page_size`.',
  after_id: 'Key of the last record of the page before, as `next` gives it. It need not exist any more.',
  after: 'What the last page or message ended with: only what comes behind it is answered.',
  order: 'By name, or the newest first.',
  tail: 'The newest so many instead of a page from the start.',
  count: 'How many at most.',
  // filters
  ids: 'Only these components: ids with commas between them.',
  status: 'Only records with this status. An empty text filters nothing.',
  enabled: 'Only components that are enabled, or only those that are not.',
  config_name: 'Only components that desire this configuration.',
  configName: 'Only components that desire this configuration.',
  tags: 'Only records with all these tags: `key=value` with commas between them.',
  state_details: 'Whether `state` is shown.',
  config_details: 'Whether `desired_state` is shown: the layers of the desired configuration, each with its status.',
  configDetails: 'Whether `desiredState` is shown: the layers of the desired configuration.',
  in_use: 'Only records that are in use, or only those that are not.',
  drop_branches: 'Whether branches are forgotten when their commits are found.',
  age: 'Old name of `min_age`, which wins if both are given.',
  min_age: 'Only sessions that started at least so long ago: a number and `m`, `h`, `d` or `w`.',
  max_age: 'Only sessions that started at most so long ago: a number and `m`, `h`, `d` or `w`.',
  succeeded: 'Only sessions with this outcome. An empty text filters nothing.',
  name_contains: 'Only sessions whose name has this text in it.',
  layer: 'Only this layer: its index in the configuration, from 0.',
  attempt: 'Only this attempt, from 1.',
  host: 'Only this host.',
  type: 'Only events of this type.',
  result: 'Only events with this result of a task.',
};

/** Every write but an upload may be sent again with the same key. */
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A write that comes again with the same key within 24 h gets the first answer again and changes nothing.',
  schema: { type: 'string', pattern: '^[\\x20-\\x7e]{1,255}$' },
};

/** Path, query and header parameters of an operation. `upload`: its body is a file. */
export function parametersOf({ method, schema }: DescribedRoute, schemas: JsonSchemas, upload: boolean): JsonSchema[] {
  return [
    ...parametersIn('path', schema.params, schemas),
    ...parametersIn('query', schema.querystring, schemas),
    ...parametersIn('header', schema.headers, schemas),
    ...(method === 'get' || upload ? [] : [IDEMPOTENCY_KEY]),
  ];
}

function parametersIn(place: 'path' | 'query' | 'header', schema: unknown, schemas: JsonSchemas): JsonSchema[] {
  if (!(schema instanceof z.ZodType)) return [];
  const { properties, required } = schemas.of(schema) as {
    properties: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...type } = withoutAnyInteger(property);
    return {
      name,
      in: place,
      required: place === 'path' || (required?.includes(name) ?? false),
      description: description ?? PARAMETER_TEXTS[name],
      // An empty text of a path is another path.
      schema: place === 'path' && type.type === 'string' ? { minLength: 1, ...type } : type,
    };
  });
}

/** Numbers in queries have no upper bound: beyond what counts exactly all mean the same. */
function withoutAnyInteger(property: JsonSchema): JsonSchema {
  const entries = Object.entries(property).filter(
    ([key, value]) => !/^(minimum|maximum)$/.test(key) || Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER,
  );
  return Object.fromEntries(entries);
}
