/** Connections that become another protocol: commands in containers, their files, forwarded ports. */
import type { IncomingMessage } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { answerHeaders, type Header, headerPairs, requestHeaders } from '../../domain/operator/proxy-headers.ts';
import type { AdmittedRun } from '../../domain/operator/proxy-ports.ts';
import { requestInfo } from '../../domain/operator/request-info.ts';
import { noteOfWrite } from './note-write.ts';
import type { ProxyContext } from './proxy-context.ts';
import { refusal } from './refusal.ts';
import { answerTo, beginRequest, patienceFor } from './upstream.ts';
import { bodyFormOf } from './whole-body.ts';

/**
 * Forwards a request that wants another protocol. `head`: what the client has sent behind its request already. Returns the status of the
 * answer; where it is 101, the connection goes on.
 * Throws `Refusal` and what breaks the way to the API server, where the client has no answer yet.
 */
export async function upgrade(
  context: ProxyContext,
  run: AdmittedRun,
  request: IncomingMessage,
  client: Duplex,
  head: Buffer,
): Promise<number> {
  const { method = 'GET', url: target = '/' } = request;
  // Bytes behind the head would be taken for the other protocol.
  if (bodyFormOf(request).form !== 'none') throw refusal(400, 'a request for another protocol has a body');
  const info = requestInfo(method, target);
  const note = noteOfWrite(context, run, method, target, info);
  const headers: Header[] = [
    ...requestHeaders(headerPairs(request.rawHeaders)),
    ['connection', 'Upgrade'],
    ['upgrade', request.headers.upgrade ?? ''],
  ];
  if (request.headers['content-length'] !== undefined) headers.push(['content-length', '0']);
  const outgoing = await beginRequest(context.access, { method, target, headers });
  client.on('close', () => outgoing.destroy());
  // The client went away meanwhile, or its run ended: nothing more is done for it.
  if (client.destroyed) {
    outgoing.on('error', () => undefined).destroy();
    throw refusal(400, 'the client has gone');
  }

  outgoing.end();
  const { answer, upgraded } = await answerTo(outgoing, context.access, patienceFor(info));
  const status = answer.statusCode ?? 0;
  // Until the two are joined, no other listener hears of a connection that breaks.
  upgraded?.server.on('error', () => upgraded.server.destroy());
  if (upgraded !== null) client.on('close', () => upgraded.server.destroy());
  // A client that has the answer finds its write noted.
  await note?.done(status, '');
  if (upgraded === null) {
    client.write(headOf(answer, 'close'));
    answer.on('error', () => client.destroy());
    answer.pipe(client);
    if (answer.destroyed) client.destroy();
  } else {
    const { server, first } = upgraded;
    if (client.destroyed) server.destroy();
    client.write(Buffer.concat([headOf(answer, 'Upgrade'), first]));
    if (head.length > 0) server.write(head);
    join(client, server);
    if (server.destroyed) client.destroy();
  }
  return status;
}

/** Status line and headers of an answer, as they go over the wire. */
function headOf(answer: IncomingMessage, connection: 'Upgrade' | 'close'): Buffer {
  const status = answer.statusCode ?? 0;
  const headers: Header[] = [...answerHeaders(headerPairs(answer.rawHeaders)), ['connection', connection]];
  if (connection === 'Upgrade') headers.push(['upgrade', answer.headers.upgrade ?? '']);
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const words = answer.statusMessage || STATUS_CODES[status] || '';
  return Buffer.from(`HTTP/1.1 ${status} ${words}\r\n${lines}\r\n`, 'latin1');
}

/** Each gets what the other sends, and ends when the other ends. */
function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  }
}
