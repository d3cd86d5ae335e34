/** Requests to member clusters: no library, no redirect, no proxy, and an address that was checked is the one connected to. */
import { createHash } from 'node:crypto';
import { Agent } from 'node:https';
import { checkServerIdentity, createSecureContext } from 'node:tls';
import {
  type AnswerClass,
  type ClusterAnswer,
  type ClusterCall,
  classOf,
  type NoAnswer,
} from '../../domain/deployments/answer-class.ts';
import type { ClusterCredential } from '../../domain/deployments/kubeconfig.ts';
import { at, hasMembers, listAt, textAt } from '../../domain/deployments/members.ts';
import type { MemberClusters, VersionAnswer } from '../../domain/deployments/ports.ts';
import { isMusterError } from '../../domain/errors.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import {
  type Answer,
  exchange,
  KeptConnectionClosed,
  type Outgoing,
  readUpTo,
  send,
  toTarget,
} from '../http/exchange.ts';
import { type ClusterAddresses, hostOf } from './addresses.ts';
import type { Call, Opened, Said } from './calls.ts';
import { pemOf } from './kubeconfig.ts';
import { isApply, openMember } from './member.ts';

/** Of an answer so much is read, bytes. */
const ANSWER_MAX = 32 * 1024 * 1024;
/** Of an answer in place of a stream so much is read, bytes. */
const REFUSAL_MAX = 64 * 1024;
/** A connection that nothing uses is closed after so long, ms: what lies between forgets it much later. */
const IDLE_MS = 4_000;
/** A way to a cluster is taken as it was found for so long, ms. */
const FRESH_MS = 60_000;

/** How requests get to a cluster; `path` begins theirs. */
type Way = Outgoing & { path: string };

interface How {
  /** For the whole answer, ms; default: as long as each call. */
  withinMs?: number | undefined;
  /** Default: a connection of its own. */
  kept?: KeptWay;
}

export interface MemberClusterOptions {
  addresses: ClusterAddresses;
  /** For one whole answer, ms. */
  callMs: number;
  /** How long a connection that nothing uses is kept, ms; default: 4 s. */
  idleMs?: number;
  /** Hears what the answer of each call means; watches are no calls, and a call that its signal ended has no answer. */
  onAnswer?(said: AnswerClass): void;
}

export function openMemberClusters({
  addresses,
  callMs,
  idleMs = IDLE_MS,
  onAnswer,
}: MemberClusterOptions): MemberClusters {
  const askOnce = async (
    credential: ClusterCredential,
    { method, path, accept, type, body, signal }: Call,
    { withinMs = callMs, kept }: How,
  ): Promise<Answer> => {
    const way = kept === undefined ? await outgoingTo(addresses, credential) : await kept.read();
    const { headers, ...outgoing } = { ...way, path: `${way.path}${path}` };
    const sent = {
      ...(headers as Record<string, string>),
      ...(accept === undefined ? {} : { accept }),
      ...(type === undefined ? {} : { 'content-type': type }),
    };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const limits = { withinMs, mostBytes: () => ANSWER_MAX, signal };
    return await exchange({ ...outgoing, method, headers: sent, ...text }, limits);
  };
  /** A call that only reads is made once more where its kept connection had been closed: the cluster may well be there. */
  const askAgain: typeof askOnce = async (credential, call, how) => {
    try {
      return await askOnce(credential, call, how);
    } catch (error) {
      if (!(error instanceof KeptConnectionClosed) || call.method !== 'GET') throw error;
      how.kept?.forget();
      return await askOnce(credential, call, how);
    }
  };
  const ask = async (credential: ClusterCredential, call: Call, how: How): Promise<Said> => {
    const said = await askAgain(credential, call, how).then(answerOf, noAnswer);
    // A call that Muster itself broke off says nothing of the cluster.
    if ('noAnswer' in said && call.signal?.aborted) return said;
    onAnswer?.(classOf(purposeOf(call), said, true));
    // Other connections may hang as this one did.
    if ('noAnswer' in said) how.kept?.forget();
    return said;
  };
  const open = async (
    credential: ClusterCredential,
    { path, accept }: Pick<Call, 'path' | 'accept'>,
    signal: AbortSignal,
  ): Promise<Opened> => {
    const headers = new AbortController();
    const late = setTimeout(() => headers.abort(new Error(`no answer within ${callMs / 1000} s`)), callMs);
    try {
      const way = await outgoingTo(addresses, credential);
      const { headers: own, ...outgoing } = { ...way, path: `${way.path}${path}` };
      const sent = { ...(own as Record<string, string>), ...(accept === undefined ? {} : { accept }) };
      const stream = await send({ ...outgoing, headers: sent }, AbortSignal.any([signal, headers.signal]));
      if (stream.statusCode === 200) return { stream };
      const read = await readUpTo(stream, REFUSAL_MAX);
      const { data: _, ...failed } = answerOf({ status: stream.statusCode ?? 0, headers: stream.headers, ...read });
      return { failed };
    } catch (error) {
      return { failed: noAnswer(error) };
    } finally {
      clearTimeout(late);
    }
  };
  const ways = keepWays(addresses, idleMs);
  return {
    openMember(credential) {
      const kept = ways.open(credential);
      return openMember(
        (call) => ask(credential, call, { kept }),
        (call, signal) => open(credential, call, signal),
      );
    },
    async readVersion(credential, withinMs): Promise<VersionAnswer> {
      const asked = await ask(credential, { method: 'GET', path: '/version' }, { withinMs });
      const said = classOf('read', asked, false);
      if (said.is === 'accepted' && !('noAnswer' in asked)) {
        const version = textAt(asked.data, 'gitVersion').slice(0, 100);
        if (version !== '') return { version };
        return { refused: 'NotKubernetes', message: 'the answer names no version' };
      }
      if ('noAnswer' in asked) return asked;
      return { refused: reasonOf(said), message: 'message' in said ? said.message : '' };
    },
  };
}

function purposeOf(call: Call): ClusterCall {
  if (call.method === 'GET') return 'read';
  return isApply(call) ? 'apply' : 'delete';
}

function noAnswer(error: unknown): NoAnswer {
  const isAddress = isMusterError(error) && error.code === 'cluster_address_not_allowed';
  return { noAnswer: isAddress ? 'address' : 'connection', message: messageOf(error) };
}

function reasonOf(said: AnswerClass): string {
  return 'reason' in said ? said.reason : 'NotKubernetes';
}

interface KeptWay {
  /** Returns the way, whose connections are used again: to connect for each call takes longer than most of them. */
  read(): Promise<Way>;
  /** What begins from now on connects anew. */
  forget(): void;
}

/**
 * Keeps the ways to clusters, each with its credential, for all work of this process. Certificates are parsed once for all connections of a way;
 * what its connections may lead to is found out again after a minute.
 */
function keepWays(addresses: ClusterAddresses, idleMs: number): { open(credential: ClusterCredential): KeptWay } {
  const ways = new Map<string, { way: Promise<Way>; until: number }>();
  const make = (credential: ClusterCredential): Promise<Way> => {
    const secureContext = createSecureContext(identityOf(credential));
    return outgoingTo(addresses, credential, new Agent({ keepAlive: true, timeout: idleMs, secureContext }));
  };
  return {
    open(credential) {
      const key = createHash('sha256').update(JSON.stringify(credential)).digest('hex');
      return {
        read() {
          const now = performance.now();
          const known = ways.get(key);
          if (known !== undefined && now < known.until) return known.way;
          for (const [old, { until }] of ways) if (now >= until) ways.delete(old);
          const made = { way: make(credential), until: now + FRESH_MS };
          ways.set(key, made);
          return made.way;
        },
        forget: () => void ways.delete(key),
      };
    },
  };
}

/** The cluster's own authority is trusted alone, where it names one. */
function identityOf({ user, certificateAuthority }: ClusterCredential): Pick<Outgoing, 'ca' | 'cert' | 'key'> {
  return {
    ...(certificateAuthority === null ? {} : { ca: pemOf(certificateAuthority, '') }),
    ...('token' in user ? {} : { cert: pemOf(user.certificate, ''), key: pemOf(user.key, '') }),
  };
}

/**
 * Returns how a request gets to the cluster, with the begin of its path.
 * @param agent of this credential; default: a connection of its own
 */
async function outgoingTo(addresses: ClusterAddresses, credential: ClusterCredential, agent?: Agent): Promise<Way> {
  const server = new URL(credential.server);
  const target = toTarget({ url: server, checkAddress: await addresses.checkOf(server) });
  const { user, tlsServerName } = credential;
  const host = hostOf(server);
  return {
    ...target,
    path: server.pathname.replace(/\/+$/, ''),
    headers: { accept: 'application/json', ...('token' in user ? { authorization: `Bearer ${user.token}` } : {}) },
    ...(agent === undefined ? identityOf(credential) : { agent }),
    ...(tlsServerName === null ? {} : { servername: tlsServerName, checkServerIdentity: namedAs(tlsServerName) }),
    ...(tlsServerName === null && host !== server.hostname ? { hostname: host } : {}),
  };
}

/** Returns the check of a certificate against the name that the kubeconfig gives, in place of the host. */
function namedAs(name: string): NonNullable<Outgoing['checkServerIdentity']> {
  return (_host, certificate) => checkServerIdentity(name, certificate);
}

function answerOf({ status, headers, bytes, isCut }: Answer): Exclude<Said, NoAnswer> {
  const retryAfter = /^[0-9]{1,5}$/.test(headers['retry-after'] ?? '') ? Number(headers['retry-after']) : null;
  const data = isCut ? undefined : jsonOf(bytes);
  return { httpStatus: status, retryAfter, data, body: bodyOf(data) };
}

function bodyOf(data: unknown): ClusterAnswer['body'] {
  if (!hasMembers(data)) return null;
  if (textAt(data, 'kind') !== 'Status') return { kind: 'object' };
  const causes = listAt(data, 'details', 'causes').map((cause) => at(cause, 'reason'));
  return {
    kind: 'status',
    reason: textAt(data, 'reason'),
    message: textAt(data, 'message'),
    causes: causes.filter((cause): cause is string => typeof cause === 'string'),
  };
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
