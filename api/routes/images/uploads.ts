import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { isMusterError, musterError } from '../../../domain/errors.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { letBy } from '../../server/plugins/request-bodies.ts';
import type { ImageApi } from './dependencies.ts';

/** Files that come in at once; each costs a part of the disk's and the network's time. */
const UPLOADS = 4;

type TakeIn<T> = (bytes: AsyncIterable<Uint8Array>) => Promise<T>;

/**
 * Hands bodies of this scope on as they come, instead of holding them. What announces too much is refused before a byte of it is
 * read; one that pauses for `stallMs` is given up.
 */
export function takeUpload(
  scope: ApiServer,
  { imageSettings, stallMs }: Pick<ImageApi, 'imageSettings' | 'stallMs'>,
): <T>(request: FastifyRequest, takeIn: TakeIn<T>) => Promise<T> {
  let open = 0;
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  return async (request, takeIn) => {
    const payload = request.body as IncomingMessage | undefined;
    if (payload === undefined || payload === null) {
      throw musterError('image_format_unknown', 'The body is empty: send the file of the image');
    }
    const announced = Number(request.headers['content-length'] ?? 0);
    try {
      if (announced > imageSettings.maxBytes) {
        const detail = `The file is larger than the limit of ${imageSettings.maxBytes} bytes`;
        throw musterError('image_too_large', detail);
      }
      if (open >= UPLOADS) throw musterError('overloaded', 'Too many images come in at once; try again in a while');
      open += 1;
      try {
        return await takeIn(watched(payload, announced, stallMs));
      } finally {
        open -= 1;
      }
    } catch (error) {
      letBy(payload);
      throw error;
    }
  };
}

/** The bytes of a body, whole: a pause, or an end before the announced length, is an error. */
async function* watched(payload: IncomingMessage, announced: number, stallMs: number): AsyncGenerator<Uint8Array> {
  const chunks = payload.iterator({ destroyOnReturn: false });
  let size = 0;
  for (;;) {
    const next = await beforeStall(chunks.next(), stallMs);
    if (next.done) break;
    size += next.value.length;
    yield next.value;
  }
  if (announced > 0 && size !== announced) {
    throw musterError('bad_request', 'The body is not as long as Content-Length says');
  }
}

async function beforeStall<T>(next: Promise<T>, stallMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(musterError('request_timeout', 'Nothing more of the body came')), stallMs);
  });
  try {
    return await Promise.race([next, stalled]);
  } catch (error) {
    throw isMusterError(error)
      ? error
      : musterError('bad_request', 'The connection was closed before the whole file was there');
  } finally {
    clearTimeout(timer);
  }
}
