/** A proxy of an operator for tests, with what it tells, and a client of it. */
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { type OwnerText, writeOwner } from '../../../domain/operator/owner-text.ts';
import type {
  AdmittedRun,
  DependentKind,
  OperatorProxy,
  ProxiedRequest,
} from '../../../domain/operator/proxy-ports.ts';
import type { RunWrite } from '../../../domain/operator/write-list.ts';
import type { ClusterAccess } from '../../../drivers/kubernetes/cluster-access.ts';
import { newProxyPassword } from '../../../drivers/operator-proxy/admitted-runs.ts';
import { openOperatorProxy, type ProxySettings } from '../../../drivers/operator-proxy/open-proxy.ts';

export const WIDGET: OwnerText = {
  apiVersion: 'demo.io/v1',
  kind: 'Widget',
  name: 'w1',
  uid: '6f1cf3c4-3a56-4d0f-8a1c-0123456789ab',
  namespace: 'ns1',
};

export const ENTRY: AdmittedRun['entry'] = {
  ...{ group: 'demo.io', version: 'v1', kind: 'Widget' },
  ...{ watch_dependent_resources: true, watch_cluster_scoped_resources: false, blacklist: [] },
};

/** A run that was let in. */
export interface Guest {
  run: AdmittedRun;
  password: string;
  /** Its `Authorization` header. */
  authorization: string;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: objects of every kind
  json: any;
}

export interface Proxied {
  proxy: OperatorProxy;
  folder: string;
  told: { dependents: DependentKind[]; writes: RunWrite[]; answered: ProxiedRequest[] };
  admit(owner?: OwnerText, entry?: AdmittedRun['entry']): Guest;
  /** Sends a request as a run; null for nobody. */
  ask(guest: Guest | null, method: string, path: string, body?: string | Buffer, type?: string): Promise<Answer>;
  /** Connection options for requests of another form. */
  options(guest: Guest | null, method: string, path: string): RequestOptions;
  /** A bare connection. */
  socket(): Promise<TLSSocket>;
  close(): Promise<void>;
}

let runs = 0;

/** Opens a proxy to what `access` leads to, in a folder of its own. */
export async function openProxied(
  access: ClusterAccess,
  settings: Partial<Omit<ProxySettings, 'access' | 'notes'>> = {},
): Promise<Proxied> {
  const folder = settings.folder ?? (await mkdtemp(join(tmpdir(), 'muster-operator-proxy-')));
  const told: Proxied['told'] = { dependents: [], writes: [], answered: [] };
  const proxy = await openOperatorProxy({
    ...{ folder, port: 0, inject: true, watchedNamespaces: [], access, ...settings },
    notes: {
      dependent: async (_run, kind) => void told.dependents.push(kind),
      wrote: (_run, write) => void told.writes.push(write),
      answered: (_run, request) => void told.answered.push(request),
    },
  });
  const options: Proxied['options'] = (guest, method, path) => ({
    ...{ host: '127.0.0.1', port: proxy.port, ca: proxy.ca, method, path, agent: false },
    headers: guest === null ? {} : { authorization: guest.authorization },
  });
  return {
    proxy,
    folder,
    told,
    options,
    admit(owner = WIDGET, entry = ENTRY) {
      const { password, hash } = newProxyPassword();
      runs += 1;
      const run = { runId: `reconcile-${runs}-1`, owner, passwordHash: hash, entry };
      proxy.admit(run);
      return { run, password, authorization: `Basic ${btoa(`${writeOwner(owner)}:${password}`)}` };
    },
    async ask(guest, method, path, body, type = 'application/json') {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const outgoing = request(options(guest, method, path), (incoming) => {
        buffer(incoming).then((bytes) => {
          const text = bytes.toString('utf8');
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json: jsonOf(text) });
        }, reject);
      });
      outgoing.on('error', reject);
      if (body !== undefined) {
        outgoing.setHeader('content-type', type);
        outgoing.setHeader('content-length', Buffer.byteLength(body));
      }
      outgoing.end(body);
      return await promise;
    },
    async socket() {
      const socket = connect({ host: '127.0.0.1', port: proxy.port, ca: proxy.ca, servername: 'localhost' });
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      socket.once('secureConnect', resolve).once('error', reject);
      await promise;
      return socket;
    },
    async close() {
      await proxy.close();
      if (settings.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
