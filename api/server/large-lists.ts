/** Lists of very many records are parsed and checked in slices, so that other requests are answered meanwhile. */
import { setImmediate as others } from 'node:timers/promises';
import type { z } from 'zod';
import { isMusterError, type MusterError, musterError } from '../../domain/errors.ts';
import { parseJson } from './json-body.ts';
import { bodyMistake } from './schema-mistakes.ts';

/** Bytes of text that are parsed at once; 1 to 3 ms. */
const PIECE = 256 * 1024;
/** Bytes that are looked through at once for the ends of records. */
const STRIDE = 2 ** 20;
/** Records that are checked at once. */
const SLICE = 500;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d] as const;
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The same as `parseJson`, with the same refusals; an array larger than `piece` bytes is taken apart between its records. */
export async function parseLargeJson(bytes: Buffer, piece = PIECE): Promise<unknown> {
  const pieces = bytes.length > piece ? await piecesOf(bytes, piece) : null;
  if (pieces === null) return parseJson(bytes);
  const records: unknown[] = [];
  let mistake: MusterError | null = null;
  for (const text of pieces) {
    await others();
    try {
      for (const record of parseJson(Buffer.concat([Buffer.from('['), text, Buffer.from(']')])) as unknown[]) {
        records.push(record);
      }
    } catch (error) {
      // That a body is no JSON is said before what its texts are.
      if (!isMusterError(error) || error.code === 'body_not_json') throw error;
      mistake ??= shifted(error, records.length);
    }
  }
  if (mistake !== null) throw mistake;
  return records;
}

/** Whether a body is checked by `checkInSlices`. */
export function isLargeList(body: unknown): body is unknown[] {
  return Array.isArray(body) && body.length > SLICE;
}

/**
 * What `schema` makes of a list; the first mistake is thrown as `bodyMistake` words it. Right for schemas that judge every
 * record by itself, as all lists of the API do.
 */
export async function checkInSlices(schema: z.ZodType, list: readonly unknown[]): Promise<unknown> {
  const checked: unknown[] = [];
  for (let start = 0; start < list.length; start += SLICE) {
    if (start > 0) await others();
    const slice = list.slice(start, start + SLICE);
    const result = schema.safeParse(slice);
    if (!result.success) throw bodyMistake(result.error, slice, schema, start);
    for (const record of result.data as unknown[]) checked.push(record);
  }
  return checked;
}

/** A mistake in a part of a list, told of the whole list: its path begins with the place of the record. */
function shifted(error: MusterError, start: number): MusterError {
  if (error.field === undefined) return error;
  return musterError(
    error.code,
    error.detail,
    error.field.replace(/^\d+/, (place) => String(Number(place) + start)),
  );
}

/**
 * The texts between the brackets of an array, cut at commas between records; null when there is no whole array with records
 * on both sides of every cut, which the ordinary parser then judges.
 */
async function piecesOf(bytes: Buffer, size: number): Promise<Buffer[] | null> {
  let at = skipBlank(bytes, 0);
  if (bytes[at] !== ARRAY) return null;
  at += 1;
  const pieces: Buffer[] = [];
  let start = at;
  let depth = 1;
  let inText = false;
  for (let pause = at + STRIDE; at < bytes.length && depth > 0; at += 1) {
    const byte = bytes[at] ?? 0;
    if (inText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    else if (byte === ARRAY || byte === OBJECT) depth += 1;
    else if (byte === ARRAY_END || byte === OBJECT_END) depth -= 1;
    else if (byte === COMMA && depth === 1 && at - start >= size) {
      pieces.push(bytes.subarray(start, at));
      start = at + 1;
    }
    if (at >= pause) {
      pause = at + STRIDE;
      await others();
    }
  }
  if (depth > 0 || bytes[at - 1] !== ARRAY_END || skipBlank(bytes, at) < bytes.length) return null;
  pieces.push(bytes.subarray(start, at - 1));
  const isCutBetweenRecords = pieces.every((text) => skipBlank(text, 0) < text.length);
  return isCutBetweenRecords ? pieces : null;
}

function skipBlank(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && BLANK.has(bytes[at] ?? 0)) at += 1;
  return at;
}
