/** One request through the proxy, and its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { markingOf, mayBeMarked } from '../../domain/operator/owner-mark.ts';
import { answerHeaders, headerPairs, requestHeaders } from '../../domain/operator/proxy-headers.ts';
import type { AdmittedRun } from '../../domain/operator/proxy-ports.ts';
import { targetMistake } from '../../domain/operator/proxy-target.ts';
import { type RequestInfo, requestInfo } from '../../domain/operator/request-info.ts';
import type { DiscoveredKind } from './discovered-kinds.ts';
import { markBody } from './mark-body.ts';
import { noteOfWrite } from './note-write.ts';
import type { ProxyContext } from './proxy-context.ts';
import { refusal } from './refusal.ts';
import { answerTo, beginRequest, patienceFor, StaleConnection, type UpstreamRequest } from './upstream.ts';
import { type BodyForm, bodyFormOf, wholeBody } from './whole-body.ts';

/**
 * Returns the run that asks.
 * Throws `Refusal`: 400 for a target that is no path of the API server, 401 where no run can be made out.
 */
export function runThatAsks({ runs }: ProxyContext, request: IncomingMessage): AdmittedRun {
  const mistake = targetMistake(request.url ?? '');
  if (mistake !== null) throw refusal(400, mistake);
  const run = runs.find(request.headers.authorization);
  if (run === null) throw refusal(401, 'name and password are not those of a run that is under way');
  return run;
}

/**
 * Forwards a request of a run; returns when the answer is through.
 * Throws `Refusal` and what breaks the way to the API server, where the client has no answer yet.
 */
export async function forward(
  context: ProxyContext,
  run: AdmittedRun,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url: target = '/' } = request;
  const info = requestInfo(method, target);
  const form = bodyFormOf(request);
  const body = await bodyOf(context, run, request, info, form);
  const headers = requestHeaders(headerPairs(request.rawHeaders));
  const length = Buffer.isBuffer(body) ? body.length : form.form === 'sized' ? form.length : null;
  if (length !== null) headers.push(['content-length', String(length)]);
  const note = noteOfWrite(context, run, method, target, info);
  const outgoing: UpstreamRequest = { method, target, headers };
  const isRead = method === 'GET' && body === null;
  const ask = () => answerOf(context, outgoing, info, body, response);
  const answer = await ask().catch((error: unknown) => {
    // A kept connection that the API server had closed meanwhile: nothing was done, so it may be asked again.
    if (isRead && error instanceof StaleConnection && !response.destroyed) return ask();
    throw error;
  });
  const status = answer.statusCode ?? 0;
  if (note === null || !note.wantsName) {
    await note?.done(status, '');
    await relay(answer, response);
    return;
  }
  let noted: Promise<void> | undefined;
  const tell = (name: string) => {
    noted ??= note.done(status, name);
    return noted;
  };
  // A client that goes away takes nothing back.
  await relay(answer, response, nameThenEnd(answer, tell)).finally(() => tell(''));
}

/** Throws also `StaleConnection`. */
async function answerOf(
  { access }: ProxyContext,
  request: UpstreamRequest,
  info: RequestInfo | null,
  body: Buffer | IncomingMessage | null,
  response: ServerResponse,
): Promise<IncomingMessage> {
  const outgoing = await beginRequest(access, request);
  response.on('close', () => outgoing.destroy());
  // The client went away meanwhile, or its run ended: nothing more is done for it.
  if (response.destroyed) {
    outgoing.on('error', () => undefined).destroy();
    throw refusal(400, 'the client has gone');
  }
  const upload = body === null || Buffer.isBuffer(body) ? undefined : body;
  const answering = answerTo(outgoing, access, patienceFor(info), upload);
  if (upload === undefined) outgoing.end(body ?? undefined);
  else upload.pipe(outgoing);
  const { answer, upgraded } = await answering;
  if (upgraded === null) return answer;
  upgraded.server.destroy();
  throw refusal(502, 'the API server answers in another protocol');
}

/** What goes to the API server as the body: marked, whole, as it comes, or none. */
async function bodyOf(
  context: ProxyContext,
  run: AdmittedRun,
  request: IncomingMessage,
  info: RequestInfo | null,
  { form }: BodyForm,
): Promise<Buffer | IncomingMessage | null> {
  const { method = '', url = '' } = request;
  const contentType = request.headers['content-type'] ?? '';
  const kind = context.inject && mayBeMarked(method, contentType, info) ? await kindOf(context, info) : null;
  const marking = markingOf(method, contentType, info, kind);
  if (marking === 'forward' || info === null || kind === null) {
    // Nothing of a body that turns out to be too large may have reached the API server.
    if (form === 'chunked') return await wholeBody(request);
    return form === 'none' ? null : request;
  }
  const path = url.split('?', 1)[0] ?? '';
  const onlyOurs = marking === 'mark_if_ours';
  return await markBody(context, { run, request: info, kind, path, contentType, onlyOurs }, await wholeBody(request));
}

async function kindOf({ kinds }: ProxyContext, info: RequestInfo): Promise<DiscoveredKind | null> {
  try {
    return await kinds.find(info);
  } catch (error) {
    throw refusal(500, `the kinds of the cluster cannot be read: ${(error as Error).message}`);
  }
}

/** Hands an answer on as it comes. */
async function relay(
  answer: IncomingMessage,
  response: ServerResponse,
  body: AsyncIterable<Buffer> = answer,
): Promise<void> {
  response.sendDate = false;
  const headers = answerHeaders(headerPairs(answer.rawHeaders)).flat();
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', headers);
  // A watch may have nothing to say for long.
  response.flushHeaders();
  await pipeline(body, response);
}

/** What is longer than this has no name of interest. */
const ANSWER_READ = 1024 * 1024;

/**
 * Yields the body of an answer and tells the name of the object in it, empty where it has none. The name is told before the last piece
 * goes on: a client that has its whole answer finds its write noted.
 */
async function* nameThenEnd(
  answer: IncomingMessage,
  tell: (name: string) => Promise<void>,
): AsyncGenerator<Buffer, void> {
  const chunks: Buffer[] = [];
  let size = 0;
  let last: Buffer | null = null;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      if (last !== null) yield last;
      last = chunk;
      size += chunk.length;
      if (size <= ANSWER_READ) chunks.push(chunk);
    }
  } finally {
    await tell(nameIn(Buffer.concat(chunks)));
  }
  if (last !== null) yield last;
}

function nameIn(body: Buffer): string {
  try {
    const { metadata } = JSON.parse(body.toString('utf8')) as { metadata?: { name?: unknown } };
    return typeof metadata?.name === 'string' ? metadata.name : '';
  } catch {
    return '';
  }
}
