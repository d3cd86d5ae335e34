import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

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
  const first = await batches.next();
  const second = first.done ? first : await batches.next();
  if (second.done) {
    const records = first.value ?? [];
    return reply.send({ [kind]: records, next: next(records.at(-1)) });
  }
  async function* text(): AsyncGenerator<string> {
    yield `{${JSON.stringify(kind)}:[`;
    let last: T | undefined;
    let separator = '';
    for await (const batch of joined(first.value ?? [], second.value ?? [], batches)) {
      if (batch.length > 0) {
        yield separator + batch.map((record) => JSON.stringify(record)).join(',');
        separator = ',';
      }
      last = batch.at(-1) ?? last;
    }
    yield `],"next":${JSON.stringify(next(last))}}`;
  }
  return reply.header('content-type', 'application/json').send(Readable.from(text(), { objectMode: false }));
}

async function* joined<T>(first: T[], second: T[], rest: AsyncGenerator<T[], void>): AsyncGenerator<T[]> {
  yield first;
  yield second;
  yield* rest;
}
