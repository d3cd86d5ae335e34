/** Objects of a member cluster: read, applied as they are, deleted with preconditions. Typed clients would drop fields that they do not know. */
import { type ClusterAnswer, classOf } from '../../domain/deployments/answer-class.ts';
import type { LiveMetadata } from '../../domain/deployments/finding.ts';
import type { Identity } from '../../domain/deployments/manifest-identity.ts';
import { at, listAt, textAt } from '../../domain/deployments/members.ts';
import { DEPLOYMENT_LABEL } from '../../domain/deployments/naming.ts';
import { type ServedKind, versionPath } from '../../domain/deployments/object-path.ts';
import type { Asked, MemberCluster } from '../../domain/deployments/ports.ts';
import type { Ask, Call, Open, Said } from './calls.ts';
import type { KeptFor } from './keep-for.ts';
import { watchKind } from './watch-kind.ts';

/** The metadata of an object alone, so that data of Secrets stay in their cluster; errors come as JSON all the same. */
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';
/** An answer with more kinds than that is not kept for other work: no API server gives it. */
const KINDS_MOST = 2_000;
/** Owner of the fields that are applied. */
const FIELD_MANAGER = 'muster';

/** Whether a call applies a manifest. */
export function isApply({ type }: Pick<Call, 'type'>): boolean {
  return type === APPLY;
}

/** Kinds of a group and version by their names. */
export type ServedKinds = ReadonlyMap<string, ServedKind>;

/** @param kept kinds by the path of their group and version, of all work with this credential */
export function openMember(
  ask: Ask,
  open: Open,
  kept: Pick<KeptFor<ServedKinds>, 'find' | 'put' | 'forget'>,
): MemberCluster {
  /** The same, asked for by this piece of work. */
  const asked = new Map<string, ServedKinds>();
  const askMetadata = async (call: Call): Promise<Asked<LiveMetadata>> => {
    const said = await ask({ ...call, accept: METADATA });
    return { ...answerOf(said), found: isFound(said) ? metadataOf(said.data) : null };
  };
  const only = async (call: Call): Promise<Asked<never>> => ({
    ...answerOf(await ask({ ...call, accept: METADATA })),
    found: null,
  });
  /**
   * Returns the answer to the question for a group or version that is not served. An API server says that in plain text, and so do many servers that are
   * no API server: the list of groups decides.
   */
  const notServed = async (
    { group, version }: Pick<Identity, 'group' | 'version'>,
    said: Said,
  ): Promise<Pick<Asked<never>, 'answer'>> => {
    if ('noAnswer' in said || said.httpStatus !== 404 || said.body !== null || group === '') return answerOf(said);
    const listed = await ask({ method: 'GET', path: '/apis' });
    if (classOf('read', listed, true).is === 'unreachable') return answerOf(listed);
    if (!isFound(listed) || textAt(listed.data, 'kind') !== 'APIGroupList') return answerOf(said);
    const versions = listAt(listed.data, 'groups').flatMap((one) => listAt(one, 'versions'));
    const isServed = versions.some((one) => textAt(one, 'groupVersion') === `${group}/${version}`);
    return isServed ? answerOf(said) : { answer: NOT_FOUND };
  };
  return {
    readVersion: () => only({ method: 'GET', path: '/version' }),
    async findKind(identity, { signal, isAnew = false } = {}) {
      const path = versionPath(identity);
      const known = (asked.get(path) ?? (isAnew ? undefined : kept.find(path)))?.get(identity.kind);
      if (known !== undefined) return { answer: FOUND, found: known };
      // Asked anew where the kind is not known: what was applied a moment ago may have made it.
      const said = await ask({ method: 'GET', path, ...(signal === undefined ? {} : { signal }) });
      if (!isFound(said)) {
        if (!('noAnswer' in said)) kept.forget(path);
        return { ...(await notServed(identity, said)), found: null };
      }
      const kinds = kindsOf(said.data);
      asked.set(path, kinds);
      if (kinds.size <= KINDS_MOST) kept.put(path, kinds);
      else kept.forget(path);
      return { ...answerOf(said), found: kinds.get(identity.kind) ?? null };
    },
    readMetadata: (path) => askMetadata({ method: 'GET', path }),
    apply: (path, manifest) =>
      askMetadata({
        ...{ method: 'PATCH', type: APPLY, body: manifest },
        path: `${path}?fieldManager=${FIELD_MANAGER}&force=true`,
      }),
    delete: (path, preconditions) =>
      only({
        ...{ method: 'DELETE', path, type: 'application/json' },
        body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', preconditions },
      }),
    watchKind: (watch, take, signal) => watchKind({ ask, open }, watch, take, signal),
    relabel: (path, precondition, label) =>
      only({
        ...{ method: 'PATCH', type: MERGE, path: `${path}?fieldManager=${FIELD_MANAGER}` },
        body: { metadata: { ...precondition, labels: { [DEPLOYMENT_LABEL]: label } } },
      }),
  };
}

const NOT_FOUND: ClusterAnswer = {
  ...{ httpStatus: 404, retryAfter: null },
  body: { kind: 'status', reason: 'NotFound', message: '', causes: [] },
};
const FOUND = { httpStatus: 200, retryAfter: null, body: { kind: 'object' } } as const;

/** Leaves the data behind. */
function answerOf(said: Said): Pick<Asked<never>, 'answer'> {
  if ('noAnswer' in said) return { answer: said };
  const { data: _, ...answer } = said;
  return { answer };
}

function isFound(said: Said): said is Exclude<Said, { noAnswer: unknown }> {
  return !('noAnswer' in said) && said.httpStatus >= 200 && said.httpStatus < 300 && said.body?.kind === 'object';
}

function metadataOf(data: unknown): LiveMetadata | null {
  const uid = textAt(data, 'metadata', 'uid');
  if (uid === '') return null;
  const label = at(data, 'metadata', 'labels', DEPLOYMENT_LABEL);
  return {
    uid,
    resourceVersion: textAt(data, 'metadata', 'resourceVersion'),
    label: typeof label === 'string' ? label : null,
    isBeingDeleted: textAt(data, 'metadata', 'deletionTimestamp') !== '',
  };
}

/** Entries with a slash are parts of objects. */
function kindsOf(data: unknown): Map<string, ServedKind> {
  const kinds = new Map<string, ServedKind>();
  for (const entry of listAt(data, 'resources')) {
    const [kind, plural] = [textAt(entry, 'kind'), textAt(entry, 'name')];
    if (kind === '' || plural === '' || plural.includes('/') || kinds.has(kind)) continue;
    kinds.set(kind, { plural, isNamespaced: at(entry, 'namespaced') === true });
  }
  return kinds;
}
