import { Agent as PlainAgent } from 'node:http';
import { Agent, type RequestOptions } from 'node:https';
import { createSecureContext } from 'node:tls';

/** How long what a kubeconfig says is taken as it was read, ms: tokens of service accounts are replaced in their files. */
const FRESH_MS = 60_000;
const CONNECTIONS_MAX = 32;

/** Address and credentials of a cluster, for one request. */
export interface Access {
  server: URL;
  /** Certificates, headers and agent; nothing of it may be shown. */
  options: RequestOptions;
  /** Agent for answers that go on. They keep their connections, so others would wait for one without end; none: as for others. */
  streams?: PlainAgent;
}

/** What knows how to reach a cluster. */
export interface ClusterAccess {
  read(): Promise<Access>;
  /** The next `read` reads everything again: the cluster did not take the credentials, or a connection is dead. */
  forget(): void;
}

/**
 * Reads a kubeconfig, or the service account of the pod, with everything that those may hold (certificates, tokens,
 * commands, proxies). The client library is large, so it is loaded with the first request.
 */
export function openClusterAccess(kubeconfig: string | null): ClusterAccess {
  let known: { access: Access; until: number } | null = null;
  let reading: Promise<Access> | null = null;
  const readAnew = async (): Promise<Access> => {
    const { KubeConfig } = await import('@kubernetes/client-node');
    const config = new KubeConfig();
    if (kubeconfig === null) config.loadFromDefault();
    else config.loadFromFile(kubeconfig);
    const cluster = config.getCurrentCluster();
    if (cluster === null) throw new Error('the kubeconfig names no cluster');
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    const access: Access = { server: new URL(cluster.server), options };
    if (cluster.proxyUrl === undefined) {
      options.agent = agentOf(cluster.server, options, CONNECTIONS_MAX);
      access.streams = agentOf(cluster.server, options, Number.POSITIVE_INFINITY);
    } else if (options.agent === undefined) delete options.agent;
    return access;
  };
  /** Requests that come together share one reading, and so its connections. */
  const share = (): Promise<Access> => {
    const own: Promise<Access> = readAnew()
      .then((access) => {
        if (reading !== own) return access;
        closeIdle(known?.access);
        known = { access, until: Date.now() + FRESH_MS };
        return access;
      })
      .finally(() => {
        if (reading === own) reading = null;
      });
    reading = own;
    return own;
  };
  return {
    async read() {
      if (known !== null && Date.now() < known.until) return known.access;
      return await (reading ?? share());
    },
    forget() {
      closeIdle(known?.access);
      known = null;
      reading = null;
    },
  };
}

/** Connections that are used again; certificates are parsed once, not for each of them. */
function agentOf(
  server: string,
  { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized }: RequestOptions,
  maxSockets: number,
): PlainAgent {
  const kept = { keepAlive: true, maxSockets, maxFreeSockets: 4 };
  if (server.startsWith('http:')) return new PlainAgent(kept);
  const secureContext = createSecureContext(said({ ca, cert, key, pfx, passphrase }));
  return new Agent({ secureContext, ...said({ servername, rejectUnauthorized }), ...kept });
}

/** What is undefined would count as given. */
function said<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Closes what nobody uses; requests under way go on. */
function closeIdle(access: Access | undefined): void {
  for (const agent of [access?.options.agent, access?.streams]) {
    if (!(agent instanceof PlainAgent)) continue;
    for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }
}
