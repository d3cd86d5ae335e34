import { Readable } from 'node:stream';
import { musterError } from '../../../domain/errors.ts';
import type { ApiSettings } from '../../shared/api-shared.ts';
import { classOf } from '../admission/request-class.ts';
import type { ApiServer } from '../api-server.ts';

/** Answers below this size, bytes, fit the buffers of a connection and are not counted. */
const SMALL_ANSWER = 64 * 1024;
/** What a list holds that is read while it is sent, bytes: two batches of its records. */
const STREAMED_ANSWER = 8 * 2 ** 20;
/** Unread answers that are held at once, bytes; above it no further list is begun. */
const HELD_ANSWERS = 256 * 2 ** 20;

/**
 * Bounds what is held for readers that take their time, and gives up one that takes nothing for `stallMs`: its connection is
 * cut in the middle, which no reader takes for a whole answer.
 */
export function slowReaders(app: ApiServer, { stallMs }: Pick<ApiSettings, 'stallMs'>): void {
  let held = 0;
  app.addHook('onRequest', async (request) => {
    if (held < HELD_ANSWERS || classOf(request.routeOptions.config.class, request.method) !== 'list') return;
    throw musterError('overloaded', 'Too many large answers wait for their readers; try again in a moment');
  });
  app.addHook('onSend', async (_request, reply, payload) => {
    const isLive = String(reply.getHeader('content-type')).startsWith('text/event-stream');
    const size = isLive ? SMALL_ANSWER : sizeOf(payload);
    if (size < SMALL_ANSWER) return;
    held += size;
    reply.raw.once('close', () => {
      held -= size;
    });
    // A connection on which nothing moves for so long is destroyed.
    reply.raw.setTimeout(stallMs, () => void reply.raw.destroy());
  });
}

function sizeOf(payload: unknown): number {
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) return payload.length;
  return payload instanceof Readable ? STREAMED_ANSWER : 0;
}
