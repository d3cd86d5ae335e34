import { musterError } from '../../domain/errors.ts';
import type { CustomResource } from '../../domain/operator/custom-resource.ts';
import type { ObjectRef, ResourceClient, WriteAnswer } from '../../domain/operator/ports.ts';
import { type ClusterClient, type ClusterRequest, isForbidden } from '../kubernetes/cluster-client.ts';
import { ABSENT, CONFLICT } from '../kubernetes/statuses.ts';
import { collectionPath, type Discovery } from '../operator-watch/discovery.ts';

/** Reads and writes custom resources as whole objects: what of them is not known here is written back as it was read. */
export function createResourceClient(client: ClusterClient, discovery: Discovery): ResourceClient {
  /** An account of too few rights gets the same answer until somebody gives it more: its resource is not to wait for that unseen. */
  const ask = (request: ClusterRequest) =>
    client.ask<CustomResource>(request).catch((error: unknown) => {
      throw isForbidden(error) ? musterError('cluster_refused', error.detail) : error;
    });
  const pathOf = async (of: ObjectRef): Promise<string | null> => {
    const kind = await discovery.find(of);
    if (kind === null) return null;
    return `${collectionPath(of, kind, kind.namespaced ? of.namespace : '')}/${encodeURIComponent(of.name)}`;
  };
  const written = async (of: ObjectRef, below: string, request: Omit<ClusterRequest, 'path'>): Promise<WriteAnswer> => {
    const path = await pathOf(of);
    if (path === null) return { answer: 'absent' };
    const expected = [ABSENT, CONFLICT];
    // An object may hold secrets, and a refusal may quote it.
    const { status, body } = await ask({
      ...request,
      path: `${path}${below}`,
      expected,
      secret: true,
    });
    if (status === CONFLICT) return { answer: 'conflict' };
    return status === ABSENT ? { answer: 'absent' } : { answer: 'written', resource: body };
  };
  return {
    async read(of) {
      const path = await pathOf(of);
      if (path === null) return null;
      const { status, body } = await ask({ method: 'GET', path, expected: [ABSENT] });
      if (status !== ABSENT) return body;
      // The kind may have gone and come back under another name.
      discovery.forget(of);
      return null;
    },
    writeStatus: (of, resource, status) => written(of, '/status', { method: 'PUT', body: { ...resource, status } }),
    writeFinalizers: (of, resource, finalizers) => {
      const { resourceVersion } = resource.metadata;
      if (resourceVersion === undefined) throw musterError('bad_data', `${of.kind} ${of.name} has no resourceVersion`);
      return written(of, '', {
        method: 'PATCH',
        contentType: 'application/merge-patch+json',
        body: { metadata: { resourceVersion, finalizers } },
      });
    },
  };
}
