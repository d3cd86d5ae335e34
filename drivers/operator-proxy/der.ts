/** As much of DER as certificates are made of. */

type Bytes = Uint8Array;

/** Returns an element: tag, length, content. */
function element(tag: number, ...parts: Bytes[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

export const sequence = (...parts: Bytes[]): Buffer => element(0x30, ...parts);
export const set = (...parts: Bytes[]): Buffer => element(0x31, ...parts);
export const octets = (content: Bytes): Buffer => element(0x04, content);
export const text = (content: string): Buffer => element(0x0c, Buffer.from(content));
export const truth = (value: boolean): Buffer => element(0x01, Buffer.from([value ? 0xff : 0]));

/** Returns an integer that is not negative, of its bytes. */
export const integer = (bytes: Bytes): Buffer =>
  element(0x02, ...((bytes[0] ?? 0) >= 0x80 ? [Buffer.from([0])] : []), bytes);

/** Returns bits of which the last `unused` do not count. */
export const bits = (content: Bytes, unused = 0): Buffer => element(0x03, Buffer.from([unused]), content);

/** Returns a context-specific element: `constructed` wraps elements, a primitive one has content. */
export const tagged = (number: number, constructed: boolean, ...parts: Bytes[]): Buffer =>
  element(0x80 | (constructed ? 0x20 : 0) | number, ...parts);

/** Returns a time to the second; from 2050 on certificates use a form of their own. */
export function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]|\..*/g, '');
  return at.getUTCFullYear() < 2050
    ? element(0x17, Buffer.from(`${digits.slice(2)}Z`))
    : element(0x18, Buffer.from(`${digits}Z`));
}

/** Returns an object identifier, written with dots. */
export function identifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...others.flatMap(base128)]));
}

/** Seven bits a byte; all but the last have the highest bit. */
function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f));
  return bytes;
}
