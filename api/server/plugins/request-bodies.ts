import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { musterError } from '../../../domain/errors.ts';
import type { ApiSettings } from '../../shared/api-shared.ts';
import type { ApiServer } from '../api-server.ts';

/** Bodies that are held at once, in largest bodies: what each becomes when it is parsed takes several times its size. */
const HELD_BODIES = 4;
/** Bodies up to this size, bytes, are read however many large ones there are. */
const SMALL_BODY = 1024 * 1024;
/** Largest body of a node, bytes: it reports one component. */
const NODE_BODY = 1024 * 1024;
/** How long a refused body may still come, ms, and how long it may pause meanwhile. */
const LINGER_MS = 30_000;
const LINGER_SILENT_MS = 2_000;

/**
 * Reads bodies as bytes, whatever their type. Refused are one above the limit (413, as soon as it is known; a node and some routes have a smaller one), an encoding
 * (415), a large one while many are held (503), and one of which nothing comes for `stallMs`, or which is not there after
 * `bodyMs` (408). Only what has arrived is held, so that announcing a large body costs nothing.
 */
export function requestBodies(app: ApiServer, deps: Pick<ApiSettings, 'maxBody' | 'stallMs' | 'bodyMs'>): void {
  const { maxBody, stallMs, bodyMs } = deps;
  const sizes = new WeakMap<FastifyRequest, number>();
  let held = 0;

  /** Takes the next piece in, or says why it is refused. */
  const refusalOf = (size: number, piece: number, most: number): Error | null => {
    if (size + piece > most) return tooLarge(most);
    if (size + piece > SMALL_BODY && held + piece > HELD_BODIES * maxBody) {
      return musterError('overloaded', 'Too many large bodies are worked on; try again in a moment');
    }
    return null;
  };

  const read = (request: FastifyRequest, payload: IncomingMessage): Promise<Buffer> => {
    const announced = Number(request.headers['content-length'] ?? Number.NaN);
    const ofRoute = Math.min(maxBody, request.routeOptions.bodyLimit);
    const most = request.caller?.role === 'node' ? Math.min(NODE_BODY, ofRoute) : ofRoute;
    if (announced > most) {
      letBy(payload);
      return Promise.reject(tooLarge(most));
    }
    const chunks: Buffer[] = [];
    let size = 0;
    return new Promise((resolve, reject) => {
      const end = (error: Error | null) => {
        clearTimeout(stalled);
        clearTimeout(late);
        payload.off('data', take).off('end', finish).off('error', end);
        if (error === null) return resolve(Buffer.concat(chunks, size));
        letBy(payload);
        reject(error);
      };
      const take = (chunk: Buffer) => {
        stalled.refresh();
        const refusal = refusalOf(size, chunk.length, most);
        if (refusal !== null) return end(refusal);
        size += chunk.length;
        held += chunk.length;
        sizes.set(request, size);
        chunks.push(chunk);
      };
      const finish = () => {
        const isWhole = Number.isNaN(announced) || size === announced;
        end(isWhole ? null : musterError('bad_request', 'The body is not as long as Content-Length says'));
      };
      const giveUp = (why: string) => () => end(musterError('request_timeout', why));
      const stalled = setTimeout(giveUp('Nothing more of the body came'), stallMs);
      const late = setTimeout(giveUp(`The body was not there after ${bodyMs / 1000} s`), bodyMs);
      payload.on('data', take).on('end', finish).on('error', end);
    });
  };

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', read);
  app.addHook('onRequest', async (request) => {
    const encoding = request.headers['content-encoding']?.trim().toLowerCase();
    if (encoding === undefined || encoding === 'identity' || !request.routeOptions.schema?.body) return;
    throw musterError(
      'unsupported_media_type',
      `A body in Content-Encoding '${encoding}' cannot be read: send it as it is`,
    );
  });
  app.addHook('onSend', async (request, reply) => {
    held -= sizes.get(request) ?? 0;
    sizes.delete(request);
    // The framework closes the connection of a body that was not read to its end, and the client would not see why.
    if (reply.statusCode === 413 || reply.statusCode === 503) reply.removeHeader('connection');
  });
}

/** Lets the rest of a refused body pass, so that the client can send to its end and read the answer; not for ever. */
export function letBy(payload: IncomingMessage): void {
  const give = () => void payload.destroy();
  const silent = setTimeout(give, LINGER_SILENT_MS).unref();
  const all = setTimeout(give, LINGER_MS).unref();
  payload
    .on('error', () => undefined)
    .on('data', () => silent.refresh())
    .once('close', () => {
      clearTimeout(silent);
      clearTimeout(all);
    })
    .resume();
}

function tooLarge(limit: number) {
  return musterError('body_too_large', `The request body is larger than the limit of ${limit} bytes`);
}
