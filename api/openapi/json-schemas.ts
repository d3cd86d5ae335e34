import { z } from 'zod';
import { NAMED_ANSWERS, NAMED_REQUESTS } from './named-schemas.ts';

export type JsonSchema = Record<string, unknown>;
type Direction = 'input' | 'output';

const COMPONENTS = '#/components/schemas/';

/** The JSON Schemas of many zod schemas; named ones are references. */
export interface JsonSchemas {
  of(schema: z.ZodType): JsonSchema;
  /** The named ones. */
  named: Record<string, JsonSchema>;
}

/**
 * Translates what requests (`input`) or answers (`output`) look like. Zod says what it checks: code points for lengths of
 * `text`, closed objects as `additionalProperties: false`, read-only members as impossible ones.
 */
export function toJsonSchemas(schemas: Iterable<z.ZodType>, io: Direction): JsonSchemas {
  const names: Record<string, z.ZodType> = io === 'input' ? NAMED_REQUESTS : NAMED_ANSWERS;
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(names)) registry.add(schema, { id });
  let count = 0;
  for (const schema of schemas) if (!registry.has(schema)) registry.add(schema, { id: `#${count++}` });
  const { schemas: translated } = z.toJSONSchema(registry, {
    io,
    uri: (id) => COMPONENTS + id,
    unrepresentable: 'any',
  });
  const found = Object.fromEntries(Object.entries(translated).map(([id, schema]) => [id, clean(schema, translated)]));
  return {
    of: (schema) => {
      const id = registry.get(schema)?.id ?? '';
      const own = found[id];
      if (own === undefined) throw new Error('a schema was not announced');
      return id.startsWith('#') ? own : { $ref: COMPONENTS + id };
    },
    named: Object.fromEntries(Object.keys(names).map((name) => [name, found[name] ?? {}])),
  };
}

/** Names of the components that a piece of a document refers to, directly or through others. */
export function referredComponents(piece: unknown, components: Record<string, unknown>): Set<string> {
  const found = new Set<string>();
  const open: unknown[] = [piece];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const [, name] of JSON.stringify(next).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      if (name === undefined || found.has(name)) continue;
      found.add(name);
      open.push(components[name]);
    }
  }
  return found;
}

/** Without zod's identities, and with what has no name written where it is used. */
function clean(schema: unknown, all: Record<string, unknown>): JsonSchema {
  const text = JSON.stringify(schema, (key, value: unknown) => {
    if (key === '$schema' || key === '$id') return undefined;
    const reference = typeof value === 'object' && value !== null && '$ref' in value ? value.$ref : undefined;
    const nameless = typeof reference === 'string' && reference.startsWith(`${COMPONENTS}#`);
    return nameless ? all[reference.slice(COMPONENTS.length)] : value;
  });
  return JSON.parse(text) as JsonSchema;
}
