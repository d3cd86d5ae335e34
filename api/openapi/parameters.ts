import { z } from 'zod';
import { REASON_HEADER, REASON_MAX } from '../../domain/reason.ts';
import type { DescribedRoute } from './described-routes.ts';
import type { JsonSchema, JsonSchemas } from './json-schemas.ts';

/** Every write but an upload may be sent again with the same key. */
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A write that comes again with the same key within 24 h gets the first answer again and changes nothing.',
  schema: { type: 'string', pattern: '^[\\x20-\\x7e]{1,255}$' },
};

/** Every write may say why. */
const REASON = {
  name: REASON_HEADER,
  in: 'header',
  required: false,
  description: `Why: UTF-8 with percent-encoding, at most ${REASON_MAX} characters. The audit keeps it.`,
  schema: { type: 'string' },
};

/** Path, query and header parameters of an operation. `upload`: its body is a file. */
export function parametersOf(
  { method, path, schema }: DescribedRoute,
  schemas: JsonSchemas,
  upload: boolean,
): JsonSchema[] {
  return [
    ...parametersIn('path', schema.params, schemas),
    ...parametersIn('query', schema.querystring, schemas),
    ...parametersIn('header', schema.headers, schemas),
    ...(method === 'get' || upload ? [] : [IDEMPOTENCY_KEY]),
    // The documents of CFS's interface say what CFS has.
    ...(method === 'get' || !path.startsWith('/api/v1/') ? [] : [REASON]),
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
      description,
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
