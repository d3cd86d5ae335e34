import { Client, type ClientOptions, Connection } from '@temporalio/client';
import { askInTime } from './ask-in-time.ts';

/** How to reach a Temporal server; the same for the embedded one and any other. */
export interface TemporalSettings {
  /** host:port */
  address: string;
  namespace: string;
  apiKey?: string | undefined;
  /** PEM texts; an empty object turns TLS on with the system's CAs; undefined: no TLS. */
  tls?: { ca?: string; cert?: string; key?: string } | undefined;
  /** Shown in Temporal beside what this process did. */
  identity: string;
}

export type TemporalInterceptors = NonNullable<ClientOptions['interceptors']>;

export interface TemporalConnection {
  client: Client;
  connection: Connection;
  /** Null when the server answers, else a sentence. */
  health(): Promise<string | null>;
  close(): Promise<void>;
}

/** TLS options as the SDK wants them. */
export function tlsOptions(tls: TemporalSettings['tls']) {
  if (tls === undefined) return undefined;
  const { ca, cert, key } = tls;
  return {
    ...(ca ? { serverRootCACertificate: Buffer.from(ca) } : {}),
    ...(cert && key ? { clientCertPair: { crt: Buffer.from(cert), key: Buffer.from(key) } } : {}),
  };
}

/** gRPC by itself waits up to two minutes before it looks again whether a server is back. */
const RECONNECT = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 2_000 };

/** A client that connects when it is first used and again after the server was away; making it needs no server. */
export function connectTemporal(
  settings: TemporalSettings,
  interceptors: TemporalInterceptors = {},
): TemporalConnection {
  const tls = tlsOptions(settings.tls ?? (settings.apiKey ? {} : undefined));
  const connection = Connection.lazy({
    address: settings.address,
    channelArgs: RECONNECT,
    ...(tls ? { tls } : {}),
    ...(settings.apiKey ? { apiKey: settings.apiKey } : {}),
  });
  const client = new Client({ connection, namespace: settings.namespace, identity: settings.identity, interceptors });
  return {
    client,
    connection,
    health: async () => {
      try {
        await askInTime(connection, () => connection.workflowService.getSystemInfo({}));
        return null;
      } catch (error) {
        return `Temporal does not answer at ${settings.address}: ${error instanceof Error ? error.message : 'unknown'}`;
      }
    },
    close: () => connection.close(),
  };
}
