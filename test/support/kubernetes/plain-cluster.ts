/** As much of Kubernetes as starting, ending and letting go of Jobs asks for: objects of one namespace, which nothing moves by itself. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ClusterJobs } from '../../../domain/sessions/cluster/cluster-job.ts';
import { createClusterClient } from '../../../drivers/kubernetes/cluster-client.ts';
import { createClusterJobs } from '../../../drivers/kubernetes-runner/kubernetes-runner.ts';
import type { Metadata } from '../../../drivers/kubernetes-runner/objects.ts';
import type { RunnerSettings } from '../../../drivers/kubernetes-runner/runner-settings.ts';

type Kind = 'jobs' | 'pods' | 'secrets';

export interface PlainObject {
  metadata: Metadata;
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
  data?: Record<string, string>;
}

interface Change {
  metadata?: Partial<Metadata> & { '$deleteFromPrimitiveList/finalizers'?: string[] };
  spec?: object;
  preconditions?: { uid?: string };
}

export interface PlainCluster {
  /** The driver on it, with plain settings. */
  jobs: ClusterJobs;
  /** What was asked: `POST jobs`, `PATCH jobs/NAME` ... */
  asked: string[];
  put(kind: Kind, object: Omit<PlainObject, 'metadata'> & { metadata: Omit<Metadata, 'uid'> }): PlainObject;
  get(kind: Kind, name: string): PlainObject | undefined;
  /** Why no object of a kind is made, as its quota says it. */
  full: Partial<Record<Kind, string>>;
  close(): void;
}

const NAMESPACE = 'runs';

export const SETTINGS: RunnerSettings = {
  namespace: NAMESPACE,
  kubeconfig: null,
  ansibleImage: 'aee',
  utilImage: 'util',
  pullPolicy: 'IfNotPresent',
  requests: {},
  limits: {},
  nodeSelector: {},
  tolerations: [],
  serviceAccount: null,
  ingestUrl: 'http://ingest.test:1',
  apiUrl: null,
  sidecarWait: false,
  workspace: { size: '1Gi', medium: '' },
};

/** What a quota says of one more of a kind. */
export const quota = (kind: string, used: number, limited: number) =>
  `exceeded quota: few, requested: count/${kind}=1, used: count/${kind}=${used}, limited: count/${kind}=${limited}`;

export async function startPlainCluster(): Promise<PlainCluster> {
  const kinds: Record<Kind, Map<string, PlainObject>> = { jobs: new Map(), pods: new Map(), secrets: new Map() };
  const asked: string[] = [];
  const full: PlainCluster['full'] = {};
  let version = 0;
  const store = (kind: Kind, object: PlainObject, uid: string = randomUUID()) => {
    version += 1;
    const metadata = { ...object.metadata, uid, resourceVersion: String(version) };
    const stored = { ...object, metadata };
    kinds[kind].set(metadata.name, stored);
    return stored;
  };
  const remove = (kind: Kind, { metadata, ...rest }: PlainObject) => {
    const { name, uid } = metadata;
    // Nothing runs here: what is told to end has ended.
    const status = kind === 'pods' ? { ...rest.status, phase: 'Failed' } : rest.status;
    const deletionTimestamp = metadata.deletionTimestamp ?? new Date().toISOString();
    const isHeld = (metadata.finalizers ?? []).length > 0;
    if (isHeld) store(kind, { ...rest, metadata: { ...metadata, deletionTimestamp }, ...(status && { status }) }, uid);
    else kinds[kind].delete(name);
    for (const [owned, { metadata: its }] of kinds.secrets) {
      if (its.ownerReferences?.some((owner) => owner.uid === uid)) kinds.secrets.delete(owned);
    }
  };
  const patch = (kind: Kind, object: PlainObject, { metadata = {}, spec }: Change) => {
    const { labels, '$deleteFromPrimitiveList/finalizers': dropped = [] } = metadata;
    const finalizers = (object.metadata.finalizers ?? []).filter((one) => !dropped.includes(one));
    const changed = {
      ...object,
      metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels }, finalizers },
      spec: { ...object.spec, ...spec },
    };
    if (finalizers.length === 0 && object.metadata.deletionTimestamp !== undefined)
      kinds[kind].delete(object.metadata.name);
    else store(kind, changed, object.metadata.uid);
  };

  const answer = async (request: IncomingMessage): Promise<[number, object]> => {
    const { method = '' } = request;
    const url = new URL(request.url ?? '', 'http://cluster.test');
    const [, kind, name] = /\/namespaces\/runs\/(jobs|pods|secrets)(?:\/([^/]+))?$/.exec(url.pathname) ?? [];
    if (kind === undefined) return [404, {}];
    asked.push([method, name === undefined ? kind : `${kind}/${name}`].join(' '));
    const body = JSON.parse((await text(request)) || '{}') as PlainObject & Change;
    const all = kinds[kind as Kind];
    if (name === undefined && method === 'GET') {
      const selects = selector(url.searchParams.get('labelSelector') ?? '');
      return [200, { items: [...all.values()].filter(selects), metadata: {} }];
    }
    if (name === undefined) {
      const { name: wanted } = body.metadata;
      // Kubernetes counts before it looks for the name.
      const refusal = full[kind as Kind];
      const message = `${kind} "${wanted}" is forbidden: ${refusal}`;
      if (refusal !== undefined) return [403, { reason: 'Forbidden', message }];
      if (all.has(wanted)) return [409, { reason: 'AlreadyExists' }];
      return [201, store(kind as Kind, body)];
    }
    const there = all.get(decodeURIComponent(name));
    if (there === undefined) return [404, { reason: 'NotFound' }];
    if (method === 'GET') return [200, there];
    const uid = body.preconditions?.uid ?? there.metadata.uid;
    if (uid !== there.metadata.uid) return [409, { reason: 'Conflict' }];
    if (method === 'DELETE') remove(kind as Kind, there);
    if (method === 'PATCH') {
      if ((body.metadata?.uid ?? there.metadata.uid) !== there.metadata.uid) return [422, { reason: 'Invalid' }];
      patch(kind as Kind, there, body);
    }
    if (method === 'PUT') {
      const { resourceVersion = there.metadata.resourceVersion } = body.metadata;
      if (resourceVersion !== there.metadata.resourceVersion) return [409, { reason: 'Conflict' }];
      store(kind as Kind, body, there.metadata.uid);
    }
    return [200, {}];
  };

  const server = createServer(async (request, response) => {
    const [status, body] = await answer(request);
    response.writeHead(status).end(JSON.stringify(body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createClusterClient({
    read: async () => ({ server: new URL(`http://127.0.0.1:${port}`), options: {} }),
    forget: () => undefined,
  });
  return {
    jobs: createClusterJobs(client, SETTINGS),
    asked,
    put: (kind, object) => store(kind, object),
    get: (kind, name) => kinds[kind].get(name),
    full,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Of a selector the terms `KEY=VALUE`, `KEY` and `!KEY`. */
function selector(terms: string): (object: PlainObject) => boolean {
  return ({ metadata: { labels = {} } }) =>
    terms.split(',').every((term) => {
      const [key = '', value] = term.split('=');
      if (term.startsWith('!')) return labels[term.slice(1)] === undefined;
      return value === undefined ? key === '' || labels[key] !== undefined : labels[key] === value;
    });
}
