const encoder = new TextEncoder();

/** Bytes of the UTF-8 text. */
export function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}

/** Bytes of a value as JSON; 0 for what JSON leaves out. */
export function jsonBytes(value: unknown): number {
  return utf8Bytes(JSON.stringify(value) ?? '');
}
