/** Numbered rows as pages and as one text. */

import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { RowSource } from '../../../control/runs/row-sources.ts';
import { LIMIT_TEXT } from '../../../domain/schema.ts';
import { fitting } from '../list-answer.ts';

export const MAX_PAGE = 1_000;
const MAX_INT = 2 ** 31 - 1;

export const RowQuerySchema = z.object({
  limit: z.int().min(1).max(MAX_PAGE).default(100).describe(LIMIT_TEXT),
  /** Number of the last row that the reader has. */
  after: z
    .int()
    .min(0)
    .default(0)
    .describe('What the last page or message ended with: only what comes behind it is answered.'),
  /** The newest so many instead; a live stream begins with them. */
  tail: z.int().min(1).max(MAX_PAGE).optional().describe('The newest so many instead of a page from the start.'),
  layer: z.int().min(0).max(MAX_INT).optional().describe('Only this layer: its index in the configuration, from 0.'),
  attempt: z.int().min(0).max(MAX_INT).optional().describe('Only this attempt, from 1.'),
  host: z.string().optional().describe('Only this host.'),
});
type RowQuery = z.infer<typeof RowQuerySchema>;

export interface RowPage<Row> {
  rows: Row[];
  /** Number to go on behind. */
  cursor: number;
  /** Parameters of the next page when there are more rows now. */
  next: Record<string, unknown> | null;
}

/** The page that a query asks for. */
export async function rowPage<Row extends { seq: number }>(
  source: RowSource<Row>,
  query: RowQuery,
): Promise<RowPage<Row>> {
  const { tail, after, limit } = query;
  const read = tail === undefined ? await source.after(after, limit + 1) : await source.last(tail);
  // Of the newest the last ones are what fits.
  const rows = tail === undefined ? fitting(read.slice(0, limit)) : fitting(read.toReversed()).toReversed();
  const more = tail === undefined && read.length > rows.length;
  const cursor = rows.at(-1)?.seq ?? after;
  return { rows, cursor, next: more ? { ...query, after: cursor } : null };
}

/** Number behind which a reader begins: that of the query, or for `tail` the one before the newest rows. */
export async function startOf<Row extends { seq: number }>(
  source: RowSource<Row>,
  { tail, after }: RowQuery,
): Promise<number> {
  if (tail === undefined) return after;
  const [first] = await source.last(tail);
  return first === undefined ? after : first.seq - 1;
}

/** Sends the texts of all rows behind `start` that there are now, as they are read. */
export function sendText(
  reply: FastifyReply,
  source: RowSource<{ seq: number; text: string }>,
  start: number,
): FastifyReply {
  return reply
    .type('text/plain; charset=utf-8')
    .header('x-content-type-options', 'nosniff')
    .send(Readable.from(wholeText(source, start), { objectMode: false }));
}

/** Rows that a text reads at once. */
const TEXT_PAGE = 100;

async function* wholeText(source: RowSource<{ seq: number; text: string }>, start: number): AsyncGenerator<string> {
  for (let after = start; ; ) {
    const rows = await source.after(after, TEXT_PAGE);
    for (const row of rows) yield row.text;
    const last = rows.at(-1);
    if (last === undefined || rows.length < TEXT_PAGE) return;
    after = last.seq;
  }
}
