/** Bodies of requests, and how large they may be. */
import type { IncomingMessage } from 'node:http';
import { refusal } from './refusal.ts';

export const BODY_MAX = 16 * 1024 * 1024;

/** How a body comes: not at all, with its length, or in chunks of which nobody knows how many follow. */
export type BodyForm = { form: 'none' } | { form: 'sized'; length: number } | { form: 'chunked' };

/** Returns how the body of a request comes. Throws `Refusal` (413) where its length is too great. */
export function bodyFormOf({ headers }: Pick<IncomingMessage, 'headers'>): BodyForm {
  if (headers['transfer-encoding'] !== undefined) return { form: 'chunked' };
  const length = Number(headers['content-length'] ?? 0);
  if (length > BODY_MAX) throw tooLarge();
  return length === 0 ? { form: 'none' } : { form: 'sized', length };
}

/** Returns all of a body. Throws `Refusal` (413) as soon as more has come than may be. */
export async function wholeBody(request: IncomingMessage): Promise<Buffer> {
  const tooEarly = () => refusal(400, 'the body of the request ended too early');
  if (request.destroyed) throw tooEarly();
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= BODY_MAX) chunks.push(chunk);
    else {
      // The rest still comes, and is let go.
      chunks.length = 0;
      reject(tooLarge());
    }
  });
  request.on('end', () => resolve(Buffer.concat(chunks)));
  request.on('close', () => reject(tooEarly()));
  return await promise;
}

const tooLarge = () => refusal(413, `the body of the request is larger than ${BODY_MAX / (1024 * 1024)} MiB`);
