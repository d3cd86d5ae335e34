/** The kind of an input follows from its schema, and says what may be connected to it. */
import type { CompactSchema } from './compact-schema.ts';

export const INPUT_KINDS = ['simple', 'list', 'hash', 'list_hash'] as const;
export type InputKind = (typeof INPUT_KINDS)[number];

/** Returns the kind of the inputs with this schema. */
export function kindOf(schema: CompactSchema): InputKind {
  if (typeof schema === 'string') return 'simple';
  if (!Array.isArray(schema)) return 'hash';
  const [first] = schema as readonly CompactSchema[];
  return typeof first === 'object' && !Array.isArray(first) ? 'list_hash' : 'list';
}
