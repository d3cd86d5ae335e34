/** Lists that are sent while their records are still being read. */
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { maskAddresses } from '../../domain/configurations/address-secrets.ts';
import { type MusterError, musterError } from '../../domain/errors.ts';
import { MAX_PAGE_BYTES } from '../../domain/page-size.ts';
import { createTurns } from './admission/turns.ts';
import { shownTo } from './plugins/masked-answers.ts';

/** Records in pieces, and whether there are more of them; the latter is known when the pieces have ended. */
export interface RecordPages<T> {
  limit: number;
  batches: AsyncGenerator<T[], void>;
  more(): boolean;
}

/**
 * Answers `{"<kind>": [...], "next": ...}` while the records are still being read, so that its memory does not grow with
 * the list and a slow reader slows only itself. It ends before it is larger than a page may be. One batch at most is sent whole; errors of the first two batches become
 * problem documents, a later one breaks the connection off, which no reader takes for a complete answer.
 * @param further members of the answer behind `next`
 */
export async function sendList<T>(
  reply: FastifyReply,
  kind: string,
  batches: AsyncGenerator<T[], void>,
  next: (last: T | undefined, isCut: boolean) => unknown,
  further: Record<string, unknown> = {},
): Promise<FastifyReply> {
  const { begun, ended } = await begin(batches);
  const around: Around<T> = {
    head: `{${JSON.stringify(kind)}:[`,
    tail: (last, isCut) => `],${JSON.stringify({ next: next(last, isCut), ...further }).slice(1)}`,
    mostBytes: MAX_PAGE_BYTES,
  };
  if (ended)
    return reply
      .header('content-type', JSON_TYPE)
      .send(await bytesOf(textOf(reply.request, joined(begun, batches), around)));
  return stream(reply, joined(begun, batches), around);
}

/**
 * Answers `{"<kind>": [...], "next": ...}` of records that are there, as far as they fit in a page.
 * @param next of the last record that is shown; `isMore` when there are others behind it
 */
export function pageAnswer<T, Kind extends string>(
  kind: Kind,
  records: readonly T[],
  more: boolean,
  next: (last: T) => Record<string, unknown>,
): Record<Kind, T[]> & { next: Record<string, unknown> | null } {
  const shown = fitting(records);
  const last = shown.at(-1);
  const isMore = more || shown.length < records.length;
  return { [kind]: shown, next: isMore && last !== undefined ? next(last) : null } as Record<Kind, T[]> & {
    next: Record<string, unknown> | null;
  };
}

/** The first of these records, as far as they fit in a page: one at least. */
export function fitting<T>(records: readonly T[]): T[] {
  let bytes = 0;
  const end = records.findIndex((record, place) => {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1;
    return place > 0 && bytes > MAX_PAGE_BYTES;
  });
  return end === -1 ? [...records] : records.slice(0, end);
}

/** Answers `[...]`, v2's form of a list, in the same way. */
export async function sendArray<T>(reply: FastifyReply, batches: AsyncGenerator<T[], void>): Promise<FastifyReply> {
  const { begun, ended } = await begin(batches);
  if (ended) return reply.send(begun.flat());
  const whole = { head: '[', tail: () => ']', mostBytes: Number.POSITIVE_INFINITY };
  return stream(reply, joined(begun, batches), whole);
}

/**
 * Answers all that match as `[...]`, or throws `list_too_large` when that is more than a page may have (cfs-api 3). A list of
 * several batches is looked through first, as far as the limit, and read again to be sent: it is never held as a whole.
 */
export async function sendWholeList<T, Shown>(
  reply: FastifyReply,
  open: () => Promise<RecordPages<T>>,
  show: (record: T) => Shown,
): Promise<FastifyReply> {
  const pages = await open();
  const { begun, ended } = await begin(pages.batches);
  while (!ended && !(await pages.batches.next()).done);
  if (pages.more()) throw listTooLarge(pages.limit);
  if (ended) return reply.send(begun.flat().map(show));
  return sendArray(reply, wholeOf(await open(), show));
}

/** Ends with an error when more records have come since they were counted: what is cut off must not look complete. */
async function* wholeOf<T, Shown>(pages: RecordPages<T>, show: (record: T) => Shown): AsyncGenerator<Shown[], void> {
  yield* mapBatches(pages.batches, show);
  if (pages.more()) throw listTooLarge(pages.limit);
}

/** The refusal of a list without pages that would have more than `limit` records. */
export function listTooLarge(limit: number): MusterError {
  const detail = `More than ${limit} records match; use version 3 of the API, which has pages`;
  return musterError('list_too_large', detail);
}

/** Records of a list, piece by piece as they are read. */
export async function* mapBatches<Row, Shown>(
  batches: AsyncGenerator<Row[], void>,
  show: (row: Row) => Shown,
): AsyncGenerator<Shown[], void> {
  for await (const rows of batches) yield rows.map(show);
}

/** The first two batches; with fewer there is nothing to gain from sending while reading. */
async function begin<T>(batches: AsyncGenerator<T[], void>): Promise<{ begun: T[][]; ended: boolean }> {
  const begun: T[][] = [];
  while (begun.length < 2) {
    const batch = await batches.next();
    if (batch.done) return { begun, ended: true };
    begun.push(batch.value);
  }
  return { begun, ended: false };
}

/** Long lists that are read at the same moment: many readers of them leave room for other requests. */
const LISTS_AT_ONCE = 2;
const takeTurn = createTurns(LISTS_AT_ONCE);

interface Around<T> {
  head: string;
  /** What follows the records; `isCut` when there were more than fit. */
  tail(last: T | undefined, isCut: boolean): string;
  /** After so many bytes of records the list ends; it has one at least. */
  mostBytes: number;
}

const JSON_TYPE = 'application/json';

async function stream<T>(
  reply: FastifyReply,
  batches: AsyncGenerator<T[], void>,
  around: Around<T>,
): Promise<FastifyReply> {
  reply.header('content-type', JSON_TYPE);
  const text = textOf(reply.request, batches, around);
  // An answer that is kept for requests that come again has to be whole; its bytes take less than its records.
  if (reply.request.operation) return reply.send(await bytesOf(text));
  return reply.send(Readable.from(text, { objectMode: false }));
}

async function* textOf<T>(
  request: FastifyRequest,
  batches: AsyncGenerator<T[], void>,
  around: Around<T>,
): AsyncGenerator<string> {
  yield around.head;
  let last: T | undefined;
  let bytes = 0;
  let isCut = false;
  let separator = '';
  const piece = async () => {
    if (isCut) return null;
    const batch = await batches.next();
    if (batch.done) return null;
    const texts: string[] = [];
    for (const record of batch.value) {
      const text = JSON.stringify(shownTo(request, record));
      bytes += Buffer.byteLength(text) + 1;
      isCut = last !== undefined && bytes > around.mostBytes;
      if (isCut) break;
      texts.push(text);
      last = record;
    }
    return maskAddresses(texts.join(','));
  };
  try {
    for (let text = await takeTurn(piece); text !== null; text = await takeTurn(piece)) {
      if (text === '') continue;
      yield separator + text;
      separator = ',';
    }
  } finally {
    await batches.return();
  }
  yield around.tail(last, isCut);
}

async function bytesOf(text: AsyncGenerator<string>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of text) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

async function* joined<T>(begun: T[][], rest: AsyncGenerator<T[], void>): AsyncGenerator<T[], void> {
  yield* begun;
  yield* rest;
}
