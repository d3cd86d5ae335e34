/** Every refusal and failure as a problem document (cfs-api 2). */

import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type ErrorCode,
  isMusterError,
  type MusterError,
  musterError,
  type Problem,
  problemOf,
} from '../../domain/errors.ts';
import { placementProblemOf } from '../../domain/placement-errors.ts';
import { v2ProblemOf } from '../../domain/v2-errors.ts';
import { isConnectionError } from '../../store/connection/database.ts';

export const PROBLEM_TYPE = 'application/problem+json';

/** Sends a problem document; as bytes, to which the framework adds no charset. */
export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.status === 503 || problem.code === 'request_in_progress') reply.header('retry-after', '2');
  return reply
    .code(problem.status)
    .header('content-type', PROBLEM_TYPE)
    .send(Buffer.from(JSON.stringify(problem)));
}

/** What went wrong, as the catalogue knows it; what is not expected stays in the log and is `internal` outside. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return answerErrorWith(problemOf, error, request, reply);
}

/** The same in the words of version 2 of CFS's API. */
export function answerV2Error(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return answerErrorWith(v2ProblemOf, error, request, reply);
}

/** The same with the statuses of the surface `placement`. */
export function answerPlacementError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return answerErrorWith(placementProblemOf, error, request, reply);
}

function answerErrorWith(
  inWords: (error: MusterError) => Problem,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const expected = expectedError(error);
  // A URL that cannot be read comes here without having passed any hook.
  reply.header('x-request-id', request.id);
  if (expected.code === 'internal') request.log.error({ err: error }, 'request failed unexpectedly');
  else if (expected.code === 'storage_unavailable') request.log.warn({ err: error }, 'database is not available');
  return sendProblem(reply, inWords(expected));
}

/** The framework's own refusals, by its codes. */
const FRAMEWORK: Record<string, readonly [ErrorCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The request body is larger than the limit'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'The content type cannot be read'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['bad_request', 'The body is not as long as Content-Length says'],
  FST_ERR_BAD_URL: ['bad_request', 'The path has a percent encoding that cannot be decoded'],
  FST_ERR_MAX_PARAM_LENGTH: ['bad_request', 'The path is too long'],
};

/** States of Postgres that the request caused: a key too long for an index, text that it cannot keep, a number too large. */
const WRONG_VALUE = /^(54000|22021|22P05|22003)$/;
/** Others were in the way, it took too long, or the database is not set up yet: the same request can pass in a moment. */
const NOT_NOW = /^(40001|40P01|55P03|57014|42P01|3D000|28000|28P01)$/;

function expectedError(error: unknown): MusterError {
  if (isMusterError(error)) return error;
  const code = codeOf(error);
  const framework = FRAMEWORK[code];
  if (framework) return musterError(...framework);
  if (isConnectionError(error) || NOT_NOW.test(code)) {
    return musterError('storage_unavailable', 'The database is not available or too busy; try again.');
  }
  if (WRONG_VALUE.test(code))
    return musterError('bad_request', 'A value cannot be stored: it is too long or too large');
  const status = statusOf(error);
  if (status >= 400 && status < 500) return musterError('bad_request', 'The request cannot be read');
  return musterError('internal', 'Something unexpected went wrong; the log of the API has the details.');
}

function codeOf(error: unknown): string {
  const code = memberOf(error, 'code');
  return typeof code === 'string' ? code : '';
}

function statusOf(error: unknown): number {
  const status = memberOf(error, 'statusCode');
  return typeof status === 'number' ? status : 500;
}

/** Errors of the framework and of other realms are no instances of our `Error`. */
function memberOf(error: unknown, name: string): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
}

/** Time to read, and forget, what a refused client goes on to send, ms. */
const LINGER_MS = 2_000;
/** Connections that have such an answer. */
const refused = new WeakSet<Socket>();

/** Answers what Node's parser refuses before there is a request: oversized headers, garbage, a stalled sender. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  // The rest of what it was sending: a connection that is closed before that was read takes the answer with it.
  if (refused.has(socket) && error.code !== 'ECONNRESET') return;
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const codes: Record<string, ErrorCode> = {
    HPE_HEADER_OVERFLOW: 'headers_too_large',
    ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  };
  const known = codes[error.code ?? ''] ?? 'bad_request';
  const problem = problemOf(musterError(known, 'The request cannot be read'));
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.title}\r\ncontent-type: ${PROBLEM_TYPE}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  refused.add(socket);
  const over = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(over));
}
