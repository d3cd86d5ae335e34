import { Readable } from 'node:stream';
import { SimulateAnswerSchema, SimulateInputSchema } from '../../../domain/propagation/simulate-schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { openSimulations } from './simulate-aside.ts';

/** Largest model of a simulation, bytes: a hundred thousand events as a list of objects. */
const SIMULATION_BODY = 16 * 2 ** 20;

/** Bytes of an answer that are worked on at once. */
const PIECE = 256 * 1024;

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

const EXAMPLE = {
  staged: ['db.run'],
  events: ['on db.run changed web.run', 'on web.run changed lb.reload'],
  outcomes: { 'web.run': 'ok' },
} as const;

/** A plan on paper: nothing is read and nothing is written. */
export async function simulateRoutes(app: ApiServer): Promise<void> {
  const simulations = openSimulations();
  app.addHook('onClose', () => simulations.close());

  app.post(
    '/simulate',
    {
      bodyLimit: SIMULATION_BODY,
      schema: {
        tags: ['plans'],
        summary: 'Build the plan of staged actions and events, and run it on paper',
        description:
          'No resource need exist. `tasks` and `filter` are `not_supported` yet. A plan that takes too long or too much memory is `graph_too_large`.',
        body: SimulateInputSchema.meta({ examples: { chain: EXAMPLE } }),
        response: { 200: SimulateAnswerSchema },
      },
      config: {
        access: 'reader',
        class: 'bulk',
        keepsBytes: true,
        refuses: [
          ...([
            'event_syntax',
            'event_condition',
            'event_ambiguous',
            'unknown_resource',
            'action_not_defined',
          ] as const),
          ...(['cycle_not_repeatable', 'graph_too_large', 'not_supported'] as const),
        ],
      },
    },
    // The body is as it came, and the answer is what the thread has written: the schemas describe both.
    async (request, reply) => {
      const answer = await simulations.simulate(request.body as unknown as Uint8Array);
      // An answer that is kept for requests that come again has to be whole.
      const isWhole = answer.length <= PIECE || request.operation !== null;
      const payload = isWhole ? answer : Readable.from(piecesOf(answer), { objectMode: false });
      return reply.header('content-type', 'application/json').send(payload as never);
    },
  );
}
