/** Lists that are sent while their records are still being read. */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { maskAddresses } from '../domain/configurations/address-secrets.ts';
import { type MusterError, musterError } from '../domain/errors.ts';
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
 * the list and a slow reader slows only itself. One batch at most is sent whole; errors of the first two batches become
 * problem documents, a later one breaks the connection off, which no reader takes for a complete answer.
 */
export async function sendList<T>(
  reply: FastifyReply,
  kind: string,
  batches: AsyncGenerator<T[], void>,
  next: (last: T | undefined) => unknown,
): Promise<FastifyReply> {
  const { begun, ended } = await begin(batches);
  if (ended) {
    const records = begun.flat();
    return reply.send({ [kind]: records, next: next(records.at(-1)) });
  }
  return stream(reply, joined(begun, batches), {
    head: `{${JSON.stringify(kind)}:[`,
    tail: (last) => `],"next":${JSON.stringify(next(last))}}`,
  });
}

/** Answers `[...]`, v2's form of a list, in the same way. */
export async function sendArray<T>(reply: FastifyReply, batches: AsyncGenerator<T[], void>): Promise<FastifyReply> {
  const { begun, ended } = await begin(batches);
  if (ended) return reply.send(begun.flat());
  return stream(reply, joined(begun, batches), { head: '[', tail: () => ']' });
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

async function stream<T>(
  reply: FastifyReply,
  batches: AsyncGenerator<T[], void>,
  around: { head: string; tail(last: T | undefined): string },
): Promise<FastifyReply> {
  async function* text(): AsyncGenerator<string> {
    yield around.head;
    let last: T | undefined;
    let separator = '';
    const piece = async () => {
      const batch = await batches.next();
      if (batch.done) return null;
      last = batch.value.at(-1) ?? last;
      const shown = batch.value.map((record) => JSON.stringify(shownTo(reply.request, record)));
      return maskAddresses(shown.join(','));
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
    yield around.tail(last);
  }
  reply.header('content-type', 'application/json');
  // An answer that is kept for requests that come again has to be whole; its bytes take less than its records.
  if (reply.request.operation) return reply.send(await bytesOf(text()));
  return reply.send(Readable.from(text(), { objectMode: false }));
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
