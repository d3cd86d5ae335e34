/** Requests to member clusters: no library, no redirect, no proxy, and an address that was checked is the one connected to. */
import {
  type AnswerClass,
  type ClusterAnswer,
  type ClusterCall,
  classOf,
  type NoAnswer,
} from '../../domain/deployments/answer-class.ts';
import { at, hasMembers, listAt, textAt } from '../../domain/deployments/members.ts';
import type { MemberClusters, VersionAnswer } from '../../domain/deployments/ports.ts';
import { isMusterError } from '../../domain/errors.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { type Answer, exchange, KeptConnectionClosed, readUpTo, send } from '../http/exchange.ts';
import type { ClusterAddresses } from './addresses.ts';
import type { Call, Opened, Said } from './calls.ts';
import { keepFor } from './keep-for.ts';
import { isApply, openMember, type ServedKinds } from './member.ts';
import { createVersionTests } from './version-tests.ts';
import { type KeptWay, keepWays } from './ways.ts';

/** Of an answer so much is read, bytes. */
const ANSWER_MAX = 32 * 1024 * 1024;
/** Of an answer in place of a stream so much is read, bytes. */
const REFUSAL_MAX = 64 * 1024;
/** A connection that nothing uses is closed after so long, ms: what lies between forgets it much later. */
const IDLE_MS = 4_000;
/** What a cluster serves is taken as it was told for so long, ms. */
const SERVED_MS = 600_000;
/** Kinds of so many groups and versions are kept, over all clusters: 1,000 clusters with 20 each. */
const SERVED_MOST = 20_000;

interface How {
  way: KeptWay;
  /** For the whole answer, ms; default: as long as each call. */
  withinMs?: number;
  /** On a connection of its own. */
  isAlone?: boolean;
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
  const tests = createVersionTests();
  const askOnce = async (
    { method, path, accept, type, body, signal }: Call,
    { way, withinMs = callMs, isAlone = false }: How,
  ): Promise<Answer> => {
    const found = isAlone ? await way.readAlone() : await way.read();
    const { headers, ...outgoing } = { ...found, path: `${found.path}${path}` };
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
  const askAgain: typeof askOnce = async (call, how) => {
    try {
      return await askOnce(call, how);
    } catch (error) {
      if (!(error instanceof KeptConnectionClosed) || call.method !== 'GET') throw error;
      how.way.forget();
      return await askOnce(call, how);
    }
  };
  const ask = async (call: Call, how: How): Promise<Said> => {
    const said = await askAgain(call, how).then(answerOf, noAnswer);
    // A call that Muster itself broke off says nothing of the cluster.
    if ('noAnswer' in said && call.signal?.aborted) return said;
    const meaning = classOf(purposeOf(call), said, true);
    onAnswer?.(meaning);
    // What is not of Kubernetes comes from what stands in front of the cluster.
    const isForeign = meaning.is === 'refused' && meaning.reason === 'NotKubernetes';
    if (meaning.is === 'unreachable' || isForeign) tests.lost(how.way.key);
    else if (meaning.is !== 'ask-version') tests.heard(how.way.key);
    // Other connections may hang as this one did.
    if ('noAnswer' in said && !how.isAlone) how.way.forget();
    return said;
  };
  const open = async (
    way: KeptWay,
    { path, accept }: Pick<Call, 'path' | 'accept'>,
    signal: AbortSignal,
  ): Promise<Opened> => {
    const headers = new AbortController();
    const late = setTimeout(() => headers.abort(new Error(`no answer within ${callMs / 1000} s`)), callMs);
    try {
      const found = await way.readAlone();
      const { headers: own, ...outgoing } = { ...found, path: `${found.path}${path}` };
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
  const wayOf = keepWays(addresses, idleMs);
  const served = keepFor<ServedKinds>(SERVED_MS, SERVED_MOST);
  return {
    openMember(credential) {
      const way = wayOf(credential);
      const at = (path: string) => `${way.key} ${path}`;
      return openMember(
        (call) => ask(call, { way }),
        (call, signal) => open(way, call, signal),
        {
          find: (path) => served.find(at(path)),
          put: (path, kinds) => served.put(at(path), kinds),
          forget: (path) => served.forget(at(path)),
        },
      );
    },
    async readVersion(credential, withinMs = callMs, heardMs?) {
      const way = wayOf(credential);
      const askVersion = async () => {
        const answer = versionOf(await ask({ method: 'GET', path: '/version' }, { way, withinMs, isAlone: true }));
        tests.told(way.key, answer);
        return answer;
      };
      return heardMs === undefined ? await askVersion() : await tests.share(way.key, { withinMs, heardMs }, askVersion);
    },
  };
}

function versionOf(asked: Said): VersionAnswer {
  const said = classOf('read', asked, false);
  if (said.is === 'accepted' && !('noAnswer' in asked)) {
    const version = textAt(asked.data, 'gitVersion').slice(0, 100);
    if (version !== '') return { version };
    return { refused: 'NotKubernetes', message: 'the answer names no version' };
  }
  if ('noAnswer' in asked) return asked;
  return { refused: reasonOf(said), message: 'message' in said ? said.message : '' };
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
