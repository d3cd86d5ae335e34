/** Numbered rows of a stream, live. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { RowSource } from '../../../control/runs/row-sources.ts';
import type { StreamState } from '../../../domain/runs/stream-schema.ts';
import { type LiveSource, type LiveStreams, lastEventId } from './live-stream.ts';
import { type RowQuerySchema, startOf } from './row-pages.ts';
import { rowPass, STREAM_PAGE } from './session-passes.ts';

/** Milliseconds between two looks of a stream of rows. */
const GAP_MS = 50;

/** Sends the rows of a source as messages called `event`, from where the request says, until the stream is over. */
export async function sendLiveRows<State extends StreamState, Row extends { seq: number }>(
  live: LiveStreams,
  request: FastifyRequest<{ Querystring: z.infer<typeof RowQuerySchema> }>,
  reply: FastifyReply,
  stream: LiveSource<State>,
  source: RowSource<Row>,
  event: string,
): Promise<FastifyReply> {
  const start = lastEventId(request) ?? (await startOf(source, request.query));
  const shared = {
    head: source.head,
    after: (seq: number, head: number) =>
      live.shared.read(`${source.key} ${seq} ${head}`, () => source.after(seq, STREAM_PAGE)),
  };
  return live.send(reply, stream, GAP_MS, rowPass(shared, start, event));
}
