/**
 * How many bytes of `bytes` make a piece of text that is not cut inside a character: up to the last line end if there
 * is one, else up to the last whole character. All of it when the text is known to end here.
 */
export function textChunkLength(bytes: Uint8Array, atEnd: boolean): number {
  if (atEnd) return bytes.length;
  const line = bytes.lastIndexOf(0x0a);
  if (line >= 0) return line + 1;
  // A character has at most four bytes; continuation bytes are 10xxxxxx.
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return length <= back ? bytes.length : bytes.length - back;
  }
  return bytes.length;
}
