import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;
type Direction = 'input' | 'output';

const COMPONENTS = '#/components/schemas/';

/** The JSON Schemas of many zod schemas; schemas with an `id` are references. */
export interface JsonSchemas {
  of(schema: z.ZodType): JsonSchema;
  /** The named schemas that the translated schemas refer to, directly or through others. */
  named: Record<string, JsonSchema>;
}

/** What is said of a schema where it stands: its name and its examples have a place of their own in the documents. */
class Texts extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  override get<S extends z.core.$ZodType>(schema: S) {
    const { id, examples, ...texts } = z.globalRegistry.get(schema) ?? {};
    return texts;
  }
}

/**
 * Translates what requests (`input`) or answers (`output`) look like. Zod says what it checks: code points for lengths of
 * `text`, closed objects as `additionalProperties: false`, read-only members as impossible ones.
 * @param taken named schemas that the document has already: a schema with another form here is written where it is used
 */
export function toJsonSchemas(
  schemas: readonly z.ZodType[],
  io: Direction,
  taken: Record<string, JsonSchema> = {},
): JsonSchemas {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of z.globalRegistry._idmap) registry.add(schema, { id });
  let count = 0;
  for (const schema of schemas.map(original)) if (!registry.has(schema)) registry.add(schema, { id: `#${count++}` });
  const { schemas: translated } = z.toJSONSchema(registry, {
    io,
    uri: (id) => COMPONENTS + id,
    unrepresentable: 'any',
    metadata: new Texts(),
    override: ({ jsonSchema }) => withoutTuple(jsonSchema as JsonSchema),
  });
  const nameless = new Set(Object.keys(translated).filter((id) => id.startsWith('#')));
  let found: Record<string, JsonSchema> = {};
  for (let known = -1; known < nameless.size; ) {
    known = nameless.size;
    found = Object.fromEntries(
      Object.entries(translated).map(([id, schema]) => [id, clean(schema, translated, nameless)]),
    );
    for (const [id, schema] of Object.entries(taken)) {
      if (JSON.stringify(found[id]) !== JSON.stringify(schema)) nameless.add(id);
    }
  }
  const of = (schema: z.ZodType): JsonSchema => {
    const id = registry.get(original(schema))?.id ?? '';
    const own = found[id];
    if (own === undefined) throw new Error('a schema was not announced');
    return nameless.has(id) ? own : { $ref: COMPONENTS + id };
  };
  const named = [...referredComponents(schemas.map(of), found)].map((id) => [id, found[id] ?? {}]);
  return { of, named: Object.fromEntries(named) };
}

/** Not every reader of the documents knows `prefixItems`: the items of a tuple are of any of its kinds. */
function withoutTuple(schema: JsonSchema): void {
  const kinds = schema.prefixItems;
  if (!Array.isArray(kinds)) return;
  const distinct = [...new Map(kinds.map((kind) => [JSON.stringify(kind), kind])).values()];
  delete schema.prefixItems;
  schema.items = distinct.length === 1 ? distinct[0] : { anyOf: distinct };
}

/** The schema of which `meta` made a copy, to give examples to one use of it; the copy checks the same. */
function original(schema: z.ZodType): z.ZodType {
  const { parent, def } = schema._zod;
  const { id, examples } = z.globalRegistry.get(schema) ?? {};
  const isCopy = parent?._zod.def === def && id === undefined && examples !== undefined;
  return isCopy ? (parent as z.ZodType) : schema;
}

/** Names of the components that a piece of a document refers to, directly or through others. */
function referredComponents(piece: unknown, components: Record<string, unknown>): Set<string> {
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
function clean(schema: unknown, all: Record<string, unknown>, nameless: ReadonlySet<string>): JsonSchema {
  const text = JSON.stringify(schema, (key, value: unknown) => {
    if (key === '$schema' || key === '$id') return undefined;
    const reference = typeof value === 'object' && value !== null && '$ref' in value ? String(value.$ref) : '';
    const id = reference.startsWith(COMPONENTS) ? reference.slice(COMPONENTS.length) : '';
    return nameless.has(id) ? all[id] : value;
  });
  return JSON.parse(text) as JsonSchema;
}
