/** A member cluster in memory: objects with labels, uids and versions, and faults on demand. */
import type { ClusterAnswer, NoAnswer } from '../../domain/deployments/answer-class.ts';
import type { LiveMetadata } from '../../domain/deployments/finding.ts';
import { type Members, textAt } from '../../domain/deployments/members.ts';
import type { Asked, KindWatch, MemberClusters, WatchEnd, WatchMessage } from '../../domain/deployments/ports.ts';

export interface FakeMember extends MemberClusters {
  /** Objects by their paths. */
  objects: Map<string, LiveMetadata>;
  /** Manifests that were applied, by their paths. */
  applied: Map<string, Members>;
  /** Calls on objects: method and path. */
  calls: string[];
  /** Objects that a watch tells of first, by the path of their collection. */
  live: Map<string, Members[]>;
  /** Watches that are open, by the path of their collection. */
  watches: Map<string, FakeWatch>;
  /** What a call gets in place of its answer; undefined: its answer. It may throw, as a worker that is killed. */
  fault(call: string, path: string): ClusterAnswer | NoAnswer | undefined;
}

export interface FakeWatch {
  asked: KindWatch;
  tell(message: WatchMessage): Promise<void>;
  end(end: WatchEnd): void;
}

export const AWAY: NoAnswer = { noAnswer: 'connection', message: 'connect ECONNREFUSED' };
const OK: ClusterAnswer = { httpStatus: 200, retryAfter: null, body: { kind: 'object' } };

/** Returns the answer of a server that says no. */
export function refusal(httpStatus: number, reason: string, retryAfter: number | null = null): ClusterAnswer {
  return { httpStatus, retryAfter, body: { kind: 'status', reason, message: `it is ${reason}`, causes: [] } };
}

export function fakeMember(): FakeMember {
  let numbers = 0;
  const next = () => String(++numbers);
  const member: FakeMember = {
    objects: new Map(),
    applied: new Map(),
    calls: [],
    live: new Map(),
    watches: new Map(),
    fault: () => undefined,
    readVersion: async () => {
      const fault = member.fault('version', '/version');
      return fault === undefined
        ? { version: 'v1.34.1' }
        : 'noAnswer' in fault
          ? fault
          : { refused: 'Refused', message: '' };
    },
    openMember: () => ({
      readVersion: async () => ({ answer: member.fault('version', '/version') ?? OK, found: null }),
      findKind: async ({ kind }) => {
        const answer = member.fault('kind', kind);
        if (answer !== undefined) return { answer, found: null };
        const found = { plural: `${kind.toLowerCase()}s`, isNamespaced: kind !== 'Namespace' };
        return { answer: OK, found: kind === 'Unknown' ? null : found };
      },
      readMetadata: (path) => call('read', path, () => member.objects.get(path) ?? null),
      apply: (path, manifest) =>
        call('apply', path, () => {
          const uid = member.objects.get(path)?.uid ?? `uid-${next()}`;
          const label = textAt(manifest, 'metadata', 'labels', 'emco/deployment-id');
          member.applied.set(path, manifest);
          member.objects.set(path, { uid, resourceVersion: next(), label, isBeingDeleted: false });
          return member.objects.get(path) ?? null;
        }),
      delete: (path, precondition) => change('delete', path, precondition, () => member.objects.delete(path)),
      async watchKind(asked, take, signal) {
        const failed = member.fault('watch', asked.path);
        if (failed !== undefined) return { version: asked.after, failed };
        await take({ is: 'open' });
        if (asked.after === null) {
          for (const object of member.live.get(asked.path) ?? []) await take({ is: 'there', object });
          await take({ is: 'listed' });
        }
        const { promise, resolve } = Promise.withResolvers<WatchEnd>();
        signal.addEventListener('abort', () => resolve({ version: null, failed: null }), { once: true });
        const own: FakeWatch = { asked, tell: take, end: resolve };
        member.watches.set(asked.path, own);
        return await promise.finally(() => {
          if (member.watches.get(asked.path) === own) member.watches.delete(asked.path);
        });
      },
      relabel: (path, precondition, label) =>
        change('relabel', path, precondition, (live) =>
          member.objects.set(path, { ...live, label, resourceVersion: next() }),
        ),
    }),
  };
  async function call<Found>(word: string, path: string, work: () => Found | null): Promise<Asked<Found>> {
    member.calls.push(`${word} ${path}`);
    const answer = member.fault(word, path);
    if (answer !== undefined) return { answer, found: null };
    const found = work();
    return { answer: found === null ? refusal(404, 'NotFound') : OK, found };
  }
  async function change(
    word: string,
    path: string,
    { uid, resourceVersion }: { uid: string; resourceVersion: string },
    work: (live: LiveMetadata) => unknown,
  ): Promise<Asked<never>> {
    member.calls.push(`${word} ${path}`);
    const answer = member.fault(word, path);
    if (answer !== undefined) return { answer, found: null };
    const live = member.objects.get(path);
    if (live === undefined) return { answer: refusal(404, 'NotFound'), found: null };
    if (live.uid !== uid || live.resourceVersion !== resourceVersion)
      return { answer: refusal(409, 'Conflict'), found: null };
    work(live);
    return { answer: OK, found: null };
  }
  return member;
}
