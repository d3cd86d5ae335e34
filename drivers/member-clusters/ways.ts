/** How requests get to member clusters: an address that was checked is the one connected to, and certificates are parsed once for many connections. */
import { createHash } from 'node:crypto';
import { Agent } from 'node:https';
import { checkServerIdentity, createSecureContext, type SecureContext } from 'node:tls';
import type { ClusterCredential } from '../../domain/deployments/kubeconfig.ts';
import { type Outgoing, toTarget } from '../http/exchange.ts';
import { type ClusterAddresses, hostOf } from './addresses.ts';
import { keepFor } from './keep-for.ts';
import { pemOf } from './kubeconfig.ts';

/** A way to a cluster is taken as it was found for so long, ms. */
const FRESH_MS = 60_000;

/** How requests get to a cluster; `path` begins theirs. */
export type Way = Outgoing & { path: string };

/** The way of one credential. */
export interface KeptWay {
  /** Tells the credential from all others. */
  key: string;
  /** Returns the way, whose connections are used again: to connect for each call takes longer than most of them. */
  read(): Promise<Way>;
  /** Returns the way for one request, with a connection of its own. Where it may lead is found out now. */
  readAlone(): Promise<Way>;
  /** What begins from now on connects anew. */
  forget(): void;
}

/**
 * Keeps the ways to clusters, each with its credential, for all work of this process. Certificates are parsed once for all connections of a
 * credential; what its kept connections may lead to is found out again after a minute.
 */
export function keepWays(addresses: ClusterAddresses, idleMs: number): (credential: ClusterCredential) => KeptWay {
  const ways = keepFor<Promise<Way>>(FRESH_MS);
  const identities = keepFor<SecureContext>(FRESH_MS);
  return (credential) => {
    const key = createHash('sha256').update(JSON.stringify(credential)).digest('hex');
    const identity = () => identities.read(key, () => createSecureContext(identityOf(credential)));
    return {
      key,
      async read() {
        return await ways.read(key, () => {
          const agent = new Agent({ keepAlive: true, timeout: idleMs, secureContext: identity() });
          return outgoingTo(addresses, credential, { agent });
        });
      },
      readAlone: async () => await outgoingTo(addresses, credential, { secureContext: identity() }),
      forget: () => ways.forget(key),
    };
  };
}

/** The cluster's own authority is trusted alone, where it names one. */
function identityOf({ user, certificateAuthority }: ClusterCredential): Pick<Outgoing, 'ca' | 'cert' | 'key'> {
  return {
    ...(certificateAuthority === null ? {} : { ca: pemOf(certificateAuthority, '') }),
    ...('token' in user ? {} : { cert: pemOf(user.certificate, ''), key: pemOf(user.key, '') }),
  };
}

/** Returns how a request gets to the cluster, with the begin of its path. `by`: what has the certificates of the credential. */
async function outgoingTo(
  addresses: ClusterAddresses,
  credential: ClusterCredential,
  by: { agent: Agent } | { secureContext: SecureContext },
): Promise<Way> {
  const server = new URL(credential.server);
  const target = toTarget({ url: server, checkAddress: await addresses.checkOf(server) });
  const { user, tlsServerName } = credential;
  const host = hostOf(server);
  return {
    ...target,
    path: server.pathname.replace(/\/+$/, ''),
    headers: { accept: 'application/json', ...('token' in user ? { authorization: `Bearer ${user.token}` } : {}) },
    ...by,
    ...(tlsServerName === null ? {} : { servername: tlsServerName, checkServerIdentity: namedAs(tlsServerName) }),
    ...(tlsServerName === null && host !== server.hostname ? { hostname: host } : {}),
  };
}

/** Returns the check of a certificate against the name that the kubeconfig gives, in place of the host. */
function namedAs(name: string): NonNullable<Outgoing['checkServerIdentity']> {
  return (_host, certificate) => checkServerIdentity(name, certificate);
}
