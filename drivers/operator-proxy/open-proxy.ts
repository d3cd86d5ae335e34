/** The way of runs to the API server: https on loopback, with a password for each run. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { OperatorProxy, ProxyNotes } from '../../domain/operator/proxy-ports.ts';
import type { ClusterAccess } from '../kubernetes/cluster-access.ts';
import { openAdmittedRuns } from './admitted-runs.ts';
import { openDependentWatches } from './dependent-watches.ts';
import { openDiscoveredKinds } from './discovered-kinds.ts';
import { keptCertificate } from './kept-certificate.ts';
import { listenOnKeptPort } from './kept-port.ts';
import type { ProxyContext } from './proxy-context.ts';
import { rawAnswer, refusal, refusalOfParser } from './refusal.ts';
import { answerRequest, switchProtocol } from './serve.ts';

const HEADERS_MAX = 64 * 1024;
/** A kept connection is closed by the client first, ms. */
const KEPT_MS = 120_000;

export interface ProxySettings {
  /** Where CA and certificate lie: `<data>/operator/proxy`. */
  folder: string;
  /** 0 for any. */
  port: number;
  access: ClusterAccess;
  notes: ProxyNotes;
  /** Whether objects are marked as dependents. */
  inject: boolean;
  /** Namespaces in which dependents are watched; none for all. */
  watchedNamespaces: readonly string[];
}

/** Opens the proxy; nobody is let in yet. Throws where the port is taken or the certificate cannot be read. */
export async function openOperatorProxy(settings: ProxySettings): Promise<OperatorProxy> {
  const { folder, access, notes, inject, watchedNamespaces } = settings;
  const { ca, server: own } = await keptCertificate(folder, new Date());
  const runs = openAdmittedRuns();
  const kinds = openDiscoveredKinds(access);
  const dependents = openDependentWatches(notes, watchedNamespaces);
  const context: ProxyContext = { access, kinds, runs, notes, dependents, inject };

  const server = createServer({ cert: own.certificate, key: own.key, maxHeaderSize: HEADERS_MAX });
  server.keepAliveTimeout = KEPT_MS;
  server.on('request', (request, response) => void answerRequest(context, request, response));
  server.on('upgrade', (request: IncomingMessage, socket, head) => void switchProtocol(context, request, socket, head));
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(rawAnswer(refusal(400, 'CONNECT is no request to the API server')));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable && error.code !== 'ECONNRESET') socket.end(rawAnswer(refusalOfParser(error.code)));
    else socket.destroy();
  });
  await listenOnKeptPort(server, folder, settings.port);
  return {
    port: (server.address() as AddressInfo).port,
    ca,
    admit: runs.admit,
    end: runs.end,
    cutAll: runs.endAll,
    async close() {
      runs.endAll();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
