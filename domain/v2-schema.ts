/**
 * Version 2 of CFS's API as a translation of version 3: a v2 shape is derived from the v3 schema, never written a second
 * time (cfs-api 13).
 */
import { z } from 'zod';
import { camelCase } from './v2-names.ts';

/** What one shape of v3 is in v2. */
export interface V2Shape<T> {
  /** The shape in v2 names; describes answers. */
  object: z.ZodType;
  /** Checks what a v2 client sends, so that mistakes are told in v2 names, and answers it in v3's shape. */
  input: z.ZodType<T>;
  /** What v2 shows of a v3 value: the members that v2 knows, in its names. */
  show(value: T): Record<string, unknown>;
}

type Name<S extends z.ZodObject> = keyof S['shape'] & string;

interface Differences<S extends z.ZodObject> {
  /**
   * The members that v2 knows, in v3's names. Version 2 is frozen, so they are listed: what v3 gains stays out of answers,
   * and is refused in requests where the shape is closed.
   */
  members: readonly Name<S>[];
  /** v2 names that are not the v3 name in camel case. */
  names?: Partial<Record<Name<S>, string>>;
  /** Members with other constraints than in v3. */
  change?: Partial<Record<Name<S>, z.ZodType>>;
  /** Members whose values, or whose items, are shapes with v2 names of their own. */
  inner?: Partial<Record<Name<S>, V2Shape<unknown>>>;
  /** Names of the shape in the documents: as an answer (`object`), as a body (`input`). */
  ids?: { object?: string; input?: string };
  /** What else it takes to make a v3 value of one that has its members renamed. */
  read?(value: z.output<S>): z.output<S>;
  /** What else has to change in a v3 value before its members are renamed. */
  fold?(value: z.output<S>): z.output<S>;
}

/** The v2 shape of a v3 object schema; closed where that is closed. */
export function v2Shape<S extends z.ZodObject>(v3: S, differences: Differences<S>): V2Shape<z.output<S>> {
  const { members, names = {}, change = {}, inner = {}, ids = {}, read, fold } = differences;
  const table = members.map((name) => ({
    name,
    v2: (names as Record<string, string>)[name] ?? camelCase(name),
    schema: (change as Record<string, z.ZodType>)[name] ?? (v3.shape[name] as z.ZodType),
    shape: (inner as Record<string, V2Shape<unknown>>)[name],
  }));
  const objectOf = (side: 'object' | 'input') => {
    const shape = table.map(({ v2, schema, shape }) => [v2, shape ? around(schema, shape[side]) : schema] as const);
    return new z.ZodObject({ ...v3.def, shape: Object.fromEntries(shape) });
  };
  const rename = (given: Record<string, unknown>): z.output<S> => {
    const value: Record<string, unknown> = {};
    for (const { name, v2 } of table) {
      if (given[v2] !== undefined) value[name] = given[v2];
    }
    return read ? read(value as z.output<S>) : (value as z.output<S>);
  };
  return {
    object: named(objectOf('object'), ids.object),
    input: named(objectOf('input').transform(rename), ids.input),
    show(value) {
      const from = (fold ? fold(value) : value) as Record<string, unknown>;
      const shown: Record<string, unknown> = {};
      for (const { name, v2, shape } of table) {
        const member = from[name];
        if (member !== undefined) shown[v2] = shape ? showInner(shape, member) : member;
      }
      return shown;
    },
  };
}

function named<S extends z.ZodType>(schema: S, id: string | undefined): S {
  return id === undefined ? schema : schema.meta({ id });
}

/** `inner` with what the v3 member has around its object: lists, optional and nullable ones. */
function around(schema: z.core.$ZodType, inner: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return around(schema.def.innerType, inner).optional();
  if (schema instanceof z.ZodNullable) return around(schema.def.innerType, inner).nullable();
  // With what else the list has to hold, such as its length.
  if (schema instanceof z.ZodArray)
    return new z.ZodArray({ ...schema.def, element: around(schema.def.element, inner) });
  return inner;
}

function showInner(shape: V2Shape<unknown>, value: unknown): unknown {
  if (value === null) return null;
  return Array.isArray(value) ? value.map((item) => shape.show(item)) : shape.show(value);
}
