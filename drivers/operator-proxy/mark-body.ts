/** Bodies that become dependents of the owner of their run. */
import { isJsonMap } from '../../domain/operator/custom-resource.ts';
import { bearsMark, markObject, markOf, type OwnerMark } from '../../domain/operator/owner-mark.ts';
import type { OwnerText } from '../../domain/operator/owner-text.ts';
import type { AdmittedRun } from '../../domain/operator/proxy-ports.ts';
import type { RequestInfo } from '../../domain/operator/request-info.ts';
import type { ClusterAccess } from '../kubernetes/cluster-access.ts';
import { exchange } from '../kubernetes/exchange.ts';
import { ABSENT } from '../kubernetes/statuses.ts';
import { readBodyObject, writeBodyObject } from './body-object.ts';
import type { DiscoveredKind } from './discovered-kinds.ts';
import type { ProxyContext } from './proxy-context.ts';
import { Refusal, refusal } from './refusal.ts';

/** For reading the metadata of an object that is to be applied, ms. */
const READ_MS = 30_000;
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

/** A request whose body is marked. */
export interface Marking {
  run: AdmittedRun;
  request: RequestInfo;
  kind: DiscoveredKind;
  /** Path of the target, without its query. */
  path: string;
  contentType: string;
  /** An apply is marked if the object is absent or bears the mark of this owner already. */
  onlyOurs: boolean;
}

/**
 * Returns the body that is forwarded in place of `bytes`.
 * Throws `Refusal`: 400 for a body that cannot be marked; the answer of the API server where the object to apply cannot be read.
 */
export async function markBody({ access, dependents }: ProxyContext, marking: Marking, bytes: Buffer): Promise<Buffer> {
  const { run, request, kind } = marking;
  const object = readBodyObject(bytes, marking.contentType);
  if (marking.onlyOurs && !(await isOurs(access, marking.path, run.owner))) return bytes;
  const namespace = request.namespace || namespaceIn(object);
  const mark = markOf(run.owner, kind.namespaced, namespace);
  const { group, version, resource } = request;
  const dependent = { group, version, kind: kind.kind, resource, namespaced: kind.namespaced, mark };
  await dependents.note(run, dependent, request.namespace);
  // An apply refuses a second reference of one uid.
  if (marking.onlyOurs && bearsReference(object, run.owner)) return bytes;
  return writeBodyObject(marked(object, run.owner, mark));
}

function marked(object: Record<string, unknown>, owner: OwnerText, mark: OwnerMark) {
  try {
    return markObject(object, owner, mark);
  } catch (error) {
    throw refusal(400, `the object cannot be marked as a dependent: ${(error as Error).message}`);
  }
}

async function isOurs(access: ClusterAccess, path: string, owner: OwnerText): Promise<boolean> {
  const { status, headers, bytes } = await exchange(
    await access.read(),
    { method: 'GET', path, accept: METADATA },
    { withinMs: READ_MS, mostBytes: () => Number.POSITIVE_INFINITY },
  );
  if (status === ABSENT) return true;
  if (status >= 300) {
    const type = headers['content-type'] ?? 'application/json';
    throw new Refusal(status, [['content-type', type]], bytes, `the object could not be read: ${status}`);
  }
  const there: unknown = JSON.parse(bytes.toString('utf8'));
  return isJsonMap(there) && bearsMark(there, owner);
}

function namespaceIn({ metadata }: Record<string, unknown>): string {
  return isJsonMap(metadata) && typeof metadata.namespace === 'string' ? metadata.namespace : '';
}

function bearsReference({ metadata }: Record<string, unknown>, owner: OwnerText): boolean {
  const references = isJsonMap(metadata) && Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : [];
  return references.some((reference: unknown) => isJsonMap(reference) && reference.uid === owner.uid);
}
