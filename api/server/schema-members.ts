/** What a schema says of the members at a place of a body, for messages. */
import { z } from 'zod';

/** Names of the members that an object at this place may have; none where there is no object. */
export function membersAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  const names = placesOf(schema, path).flatMap((place) =>
    // What only the server sets is none that a sender may have meant.
    Object.entries(place.def.shape).flatMap(([name, member]) =>
      unwrapped(member).some((inner) => inner instanceof z.ZodNever) ? [] : [name],
    ),
  );
  return [...new Set(names)];
}

/** The schemas of objects that stand at a place: several, where a union has alternatives. */
function placesOf(schema: z.core.$ZodType, path: readonly PropertyKey[]): z.ZodObject[] {
  const [key, ...rest] = path;
  return unwrapped(schema).flatMap((inner) => {
    if (inner instanceof z.ZodObject) {
      if (key === undefined) return [inner];
      const member = inner.def.shape[String(key)] ?? inner.def.catchall;
      return member === undefined ? [] : placesOf(member, rest);
    }
    if (key === undefined) return [];
    if (inner instanceof z.ZodArray) return placesOf(inner.element, rest);
    if (inner instanceof z.ZodRecord) return placesOf(inner.def.valueType, rest);
    return [];
  });
}

/** What is inside of wrappers, pipes and unions. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodPipe)
    return unwrapped(schema.def.in instanceof z.ZodTransform ? schema.def.out : schema.def.in);
  if (schema instanceof z.ZodUnion) return schema.def.options.flatMap(unwrapped);
  if (schema instanceof z.ZodIntersection) return [...unwrapped(schema.def.left), ...unwrapped(schema.def.right)];
  if (schema instanceof z.ZodLazy) return unwrapped(schema.def.getter());
  const isWrapper =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly ||
    schema instanceof z.ZodCatch;
  return isWrapper ? unwrapped(schema.def.innerType) : [schema];
}
