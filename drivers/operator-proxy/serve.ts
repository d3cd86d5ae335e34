import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AdmittedRun } from '../../domain/operator/proxy-ports.ts';
import { forward, runThatAsks } from './forward.ts';
import type { ProxyContext } from './proxy-context.ts';
import { type Refusal, rawAnswer, refusalOf } from './refusal.ts';
import { upgrade } from './upgrade.ts';

/** A client that is refused may go on sending its body so long, ms: else it would see a broken connection in place of the answer. */
const DRAIN_MS = 2_000;

/** Answers one request, whatever becomes of it. Never fails. */
export async function answerRequest(
  context: ProxyContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const began = Date.now();
  let run: AdmittedRun | null = null;
  try {
    run = runThatAsks(context, request);
    const closed = context.runs.open(run.runId, () => request.socket.destroy());
    response.on('close', closed);
    await forward(context, run, request, response);
  } catch (error) {
    refuse(request, response, refusalOf(error));
  }
  tell(context, run, request, response.statusCode, began);
}

/** The status is known; where the body broke off, the client sees it by its connection. */
function refuse(request: IncomingMessage, response: ServerResponse, refused: Refusal): void {
  if (response.headersSent || response.destroyed) {
    request.socket.destroy();
    return;
  }
  const { status, headers, bytes } = refused;
  const own = [
    ['content-length', String(bytes.length)],
    ['connection', 'close'],
  ];
  response.writeHead(status, [...headers, ...own].flat());
  response.write(bytes);
  if (request.complete) {
    response.end();
    return;
  }
  const timer = setTimeout(() => response.end(), DRAIN_MS);
  response.on('close', () => clearTimeout(timer));
  request.on('end', () => response.end());
  request.resume();
}

/** Answers a request that wants another protocol, and joins the connections. Never fails. */
export async function switchProtocol(
  context: ProxyContext,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  const began = Date.now();
  socket.on('error', () => socket.destroy());
  let run: AdmittedRun | null = null;
  let status: number;
  try {
    run = runThatAsks(context, request);
    const closed = context.runs.open(run.runId, () => socket.destroy());
    socket.on('close', closed);
    status = await upgrade(context, run, request, socket, head);
  } catch (error) {
    const refused = refusalOf(error);
    status = refused.status;
    socket.end(rawAnswer(refused));
  }
  tell(context, run, request, status, began);
}

function tell(
  { notes }: ProxyContext,
  run: AdmittedRun | null,
  { method = '', url = '' }: IncomingMessage,
  status: number,
  began: number,
): void {
  const path = url.split('?', 1)[0] ?? '';
  notes.answered(run, { method, path, status, milliseconds: Date.now() - began });
}
