import { Client, type ClientOptions, Connection } from '@temporalio/client';
import { defaultPayloadConverter, type LoadedDataConverter } from '@temporalio/common';
import { SealingFailureConverter } from '../../workflows/engine/sealed-failures.ts';
import { askInTime, HEALTH_MS, untilGivenUp } from './ask-in-time.ts';
import { clientCodec } from './payload-mac.ts';
import { sealMessages } from './seal-messages.ts';
import type { Signing, SigningLog } from './signing.ts';

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

/** Seals come last: what others add is signed too. */
function withSeals({ workflow, ...others }: TemporalInterceptors): TemporalInterceptors {
  return { ...others, workflow: [...(Array.isArray(workflow) ? workflow : []), sealMessages()] };
}

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

/** How a client writes and reads what goes through Temporal. */
export function signingConverter({ key, requiredSince, log }: Signing & { log: SigningLog }): LoadedDataConverter {
  return {
    payloadConverter: defaultPayloadConverter,
    // What has a payload was checked by the codec.
    failureConverter: new SealingFailureConverter((seal) => {
      if (seal) return 'ours';
      return requiredSince() === null ? 'unsigned' : 'refused';
    }),
    payloadCodecs: [clientCodec(key, { requiredSince, log })],
  };
}

/**
 * A client that connects when it is first used and again after the server was away; making it needs no server.
 * @param signed how it signs; null where the process has no key
 */
export function connectTemporal(
  settings: TemporalSettings,
  interceptors: TemporalInterceptors = {},
  signed: (Signing & { log: SigningLog }) | null = null,
): TemporalConnection {
  const tls = tlsOptions(settings.tls ?? (settings.apiKey ? {} : undefined));
  const connection = Connection.lazy({
    address: settings.address,
    channelArgs: RECONNECT,
    ...(tls ? { tls } : {}),
    ...(settings.apiKey ? { apiKey: settings.apiKey } : {}),
  });
  const { namespace, identity } = settings;
  const client = new Client({
    connection,
    namespace,
    identity,
    interceptors: signed === null ? interceptors : withSeals(interceptors),
    ...(signed === null ? {} : { dataConverter: signingConverter(signed) }),
  });
  return {
    client,
    connection,
    health: async () => {
      try {
        await askInTime(connection, HEALTH_MS, () => connection.workflowService.getSystemInfo({}));
        return null;
      } catch (error) {
        return `Temporal does not answer at ${settings.address}: ${error instanceof Error ? error.message : 'unknown'}`;
      }
    },
    close: async () => {
      await untilGivenUp();
      await connection.close();
    },
  };
}
