import type { FastifyRequest } from 'fastify';
import { withMaskedPassthrough } from '../../../domain/sessions/passthrough-mask.ts';
import type { ApiServer } from '../api-server.ts';

/** Who may make sessions sees what they are made of; readers see no value that looks like a secret, wherever a record is answered. */
const seesAll = ({ caller }: FastifyRequest): boolean =>
  caller === null || caller.role === 'admin' || caller.role === 'operator';

/** What this caller sees of a record. */
export const shownTo = <T>(request: FastifyRequest, record: T): T =>
  seesAll(request) ? record : withMaskedPassthrough(record);

/** Masks the answers that are sent as one object; lists that are sent piece by piece call `shownTo` themselves. */
export function maskedAnswers(app: ApiServer): void {
  app.addHook('preSerialization', async (request, _reply, payload) => shownTo(request, payload));
}
