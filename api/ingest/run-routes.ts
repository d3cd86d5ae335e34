import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { runPosition } from '../../control/runs/run-position.ts';
import { takeEvents } from '../../control/runs/take-events.ts';
import { takeExit } from '../../control/runs/take-exit.ts';
import { takeOutput } from '../../control/runs/take-output.ts';
import { takeResults } from '../../control/runs/take-results.ts';
import { musterError } from '../../domain/errors.ts';
import { ExitFileSchema, ResultsFileSchema } from '../../domain/runs/schema.ts';
import type { ApiServer } from '../server/api-server.ts';
import type { IngestDependencies } from './dependencies.ts';

/** Largest part of events or output in one request, bytes. */
const PART_MAX = 4 * 2 ** 20;

const config = { class: 'quick' } as const;
const params = z.object({ run_id: z.string() });
const eventQuery = z.object({ first_line: z.int().min(1) });
const outputQuery = z.object({ offset: z.int().min(0), final: z.boolean().optional() });

/** What a runner elsewhere hands in of its run, in parts that may be sent again; each answer says where to go on. */
export async function runRoutes(app: ApiServer, { db, clock, logMax }: IngestDependencies): Promise<void> {
  app.get('/runs/:run_id', { schema: { params }, config }, async ({ params: { run_id } }) => runPosition(db, run_id));

  app.post('/runs/:run_id/events', { schema: { params, querystring: eventQuery }, config }, async (request) => {
    const { run_id } = request.params;
    return takeEvents({ db, clock }, run_id, request.query.first_line, linesOf(bytesOf(request)));
  });

  app.post('/runs/:run_id/output', { schema: { params, querystring: outputQuery }, config }, async (request) => {
    const { offset, final = false } = request.query;
    return takeOutput({ db, clock }, request.params.run_id, { offset, bytes: bytesOf(request), final }, { logMax });
  });

  app.put(
    '/runs/:run_id/results',
    { schema: { params, body: ResultsFileSchema }, config },
    async ({ params: { run_id }, body }) => takeResults(db, run_id, body),
  );

  app.put('/runs/:run_id/exit', { schema: { params, body: ExitFileSchema }, config }, async (request) =>
    takeExit({ db, clock }, request.params.run_id, request.body),
  );
}

function bytesOf({ body }: FastifyRequest): Uint8Array {
  if (!Buffer.isBuffer(body)) return new Uint8Array();
  if (body.length > PART_MAX) {
    throw musterError('body_too_large', `A part is at most ${PART_MAX} bytes; send it in smaller ones`);
  }
  return body;
}

/** Whole lines; what follows the last line end is a line that is still being written, and is left out. */
function linesOf(bytes: Uint8Array): string[] {
  const lines = new TextDecoder().decode(bytes).split('\n');
  lines.pop();
  return lines;
}
