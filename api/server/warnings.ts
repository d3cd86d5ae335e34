import type { FastifyReply } from 'fastify';

/**
 * Tells what is not as the client may think, although its request was taken: by the header `Warning` (299, as the API of Kubernetes does),
 * since answers of CFS have no place for it. The texts are ASCII without quotes.
 */
export function warn(reply: FastifyReply, warnings: readonly string[]): void {
  if (warnings.length > 0)
    reply.header(
      'warning',
      warnings.map((text) => `299 muster "${text}"`),
    );
}
