import type { IncomingHttpHeaders } from 'node:http';
import type { InjectOptions } from 'fastify';
import { countMany } from '../../../control/service/rehearse-many.ts';
import { type RehearsedAnswer, rehearsalHandle, rehearseRequest } from '../../../control/service/rehearse-request.ts';
import { musterError } from '../../../domain/errors.ts';
import { type DryRun, DryRunAnswerSchema, DryRunSchema } from '../../../domain/service/dry-run-schema.ts';
import { createTurns } from '../../server/admission/turns.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ApiShared, Offered } from '../../shared/api-shared.ts';
import { rehearsalShared } from '../../shared/rehearsal-shared.ts';
import { manyForms, rehearsableRequests } from './rehearsable-routes.ts';

/** Rehearsals at once: each has a connection of the pool for itself, and may hold locks. */
const AT_ONCE = 2;
/** Headers that belong to the connection, to the dry run itself, or to its body; the others say who asks, and why. */
const OWN_HEADERS = new Set([
  ...['connection', 'content-length', 'content-type', 'transfer-encoding', 'expect', 'upgrade', 'keep-alive'],
  ...['idempotency-key', 'x-request-id', 'accept', 'accept-encoding', 'traceparent', 'tracestate'],
]);

/** What a write would change. */
export async function dryRunRoutes(
  app: ApiServer,
  { shared, again }: { shared: ApiShared } & Pick<Offered, 'again'>,
): Promise<void> {
  const { db, settings, clock } = shared;
  const isRehearsable = rehearsableRequests(settings.prefixes);
  const manyForm = manyForms(settings.prefixes);
  const takeTurn = createTurns(AT_ONCE);
  const handle = rehearsalHandle(db);
  let routes: Promise<ApiServer> | undefined;
  /** This API once more, on the handle of rehearsals; made when it is first asked for. */
  const rehearsalRoutes = async () => {
    const made = again(rehearsalShared(shared, handle));
    await made.ready();
    return made;
  };
  app.addHook('onClose', async () => {
    await (await routes)?.close();
  });

  app.post(
    '/dry-run',
    {
      schema: {
        tags: ['service'],
        summary: 'What a request would change: it is made, and taken back',
        description:
          'The request is refused as its route refuses it. Nothing of it stays, and nothing is told to anything outside of the database.',
        body: DryRunSchema.meta({
          examples: {
            disable: { method: 'PATCH', path: '/v3/components/x1', body: { enabled: false } },
            cancel: { method: 'POST', path: '/api/v1/sessions/cancel', body: { status: ['pending'] } },
          },
        }),
        response: { 200: DryRunAnswerSchema },
      },
      config: {
        access: 'reader',
        class: 'remote',
        // Of each status that a route may refuse with one code, which stands for the others.
        refuses: [
          ...(['rehearsal_unsupported', 'rehearsal_busy'] as const),
          ...(['not_found', 'component_not_found', 'selection_gone', 'changed_since'] as const),
        ],
        changesNothing: true,
      },
    },
    async (request, reply) => {
      const { method, path } = request.body;
      if (!isRehearsable(method, path)) {
        throw musterError('rehearsal_unsupported', `${method} ${path} has no dry run.`, 'path');
      }
      routes ??= rehearsalRoutes();
      const inner = await routes;
      const outcome = await takeTurn(async () => {
        const form = manyForm(method, path);
        const many = form && (await countMany({ db, clock }, form, request.body.body));
        const asked = many === null ? request.body : { ...request.body, body: many.sample };
        const ask = (requestId: string) => answerOf(inner, injected(asked, request.headers, requestId));
        return rehearseRequest({ db, handle, request: ask, many });
      });
      if ('effect' in outcome) return outcome.effect;
      const { status, contentType, body } = outcome.refused;
      return reply
        .code(status as 200)
        .header('content-type', contentType)
        .send(Buffer.from(JSON.stringify(body)) as never);
    },
  );
}

/** The request as its route is to get it. */
function injected({ method, path, query = {}, body }: DryRun, given: IncomingHttpHeaders, id: string): InjectOptions {
  const headers: IncomingHttpHeaders = { accept: 'application/json', 'x-request-id': id };
  for (const [name, value] of Object.entries(given)) if (!OWN_HEADERS.has(name)) headers[name] = value;
  const words = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const url = words.size > 0 ? `${path}?${words}` : path;
  if (body === undefined) return { method, url, headers };
  return { method, url, headers: { ...headers, 'content-type': 'application/json' }, payload: JSON.stringify(body) };
}

async function answerOf(inner: ApiServer, options: InjectOptions): Promise<RehearsedAnswer> {
  const answer = await inner.inject(options);
  const warnings = [answer.headers.warning ?? []]
    .flat()
    .map((text) => String(text).replace(/^299 muster "(.*)"$/, '$1'));
  return {
    status: answer.statusCode,
    contentType: String(answer.headers['content-type'] ?? 'application/json'),
    body: answer.body === '' ? null : withoutToken(JSON.parse(answer.body)),
    warnings,
  };
}

/** A token, or a key of signatures, that is never made is not shown: it could be taken for one that works. */
function withoutToken(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'token' && name !== 'secret'));
}
