/** Names of records for completion, by the word of the API and fast, or none. */
import type { ApiClient, Query } from '../../client/api-client.ts';
import type { CliContext } from '../../context.ts';

/** Longest wait for the API, ms: a key is pressed, and a person waits. */
const PATIENCE_MS = 350;
/** Names at most. */
const AT_MOST = 1_000;

type Listed = Readonly<Record<string, unknown>>;

/** Where the records of a kind are listed, and what each of them is called: one of its members, or what is made of several. */
interface Names {
  path: string;
  records: string;
  name: string | ((record: Listed) => string);
  query?: Query;
}

/** Lists without pages take no limit. */
const WHOLE: Query = { limit: undefined };
const PROPAGATION = '/api/v1/propagation';

const LISTS: Readonly<Record<string, Names>> = {
  session: { path: '/api/v1/sessions', records: 'sessions', name: 'name', query: { order: 'newest' } },
  component: { path: '/v3/components', records: 'components', name: 'id' },
  configuration: { path: '/v3/configurations', records: 'configurations', name: 'name' },
  source: { path: '/v3/sources', records: 'sources', name: 'name' },
  schedule: { path: '/api/v1/schedules', records: 'schedules', name: 'name' },
  webhook: { path: '/api/v1/webhooks', records: 'webhooks', name: 'name' },
  secret: { path: '/api/v1/secrets', records: 'secrets', name: 'name', query: WHOLE },
  token: { path: '/api/v1/tokens', records: 'tokens', name: 'name' },
  rollout: { path: '/api/v1/rollouts', records: 'rollouts', name: 'configuration' },
  batch: { path: '/api/v1/batches', records: 'batches', name: 'id' },
  image: { path: '/api/v1/images', records: 'images', name: 'name' },
  cluster: {
    path: '/api/v1/clusters',
    records: 'clusters',
    name: ({ provider, name }) => `${provider}+${name}`,
  },
  deployment: { path: '/api/v1/deployments', records: 'deployments', name: 'name' },
  operator: { path: '/api/v1/operator', records: 'operators', name: 'name', query: WHOLE },
  'operator-kind': { path: '/api/v1/operator/watches', records: 'watches', name: 'kind', query: WHOLE },
  'operator-resource': {
    path: '/api/v1/operator/resources',
    records: 'resources',
    // A resource of a whole cluster has no namespace.
    name: ({ namespace, name }) => (namespace === '' ? String(name) : `${namespace}/${name}`),
  },
  repository: { path: `${PROPAGATION}/repositories`, records: 'repositories', name: 'name' },
  resource: { path: `${PROPAGATION}/resources`, records: 'resources', name: 'name' },
  plan: { path: `${PROPAGATION}/plans`, records: 'plans', name: 'id' },
  event: { path: `${PROPAGATION}/events`, records: 'events', name: 'id' },
  change: { path: `${PROPAGATION}/changes/staged`, records: 'changes', name: 'uid' },
};

/**
 * Names of the records of a kind, each once. A failure gives no names: a completion has no place for a message.
 * @param before the arguments so far; resources of operators are those of the kind that the first of them names
 */
export async function knownNames(
  context: CliContext,
  api: ApiClient,
  kind: string,
  before: readonly string[],
): Promise<string[]> {
  try {
    if (kind === 'context') return Object.keys((await context.contexts?.read())?.contexts ?? {});
    const list = Object.hasOwn(LISTS, kind) ? LISTS[kind] : undefined;
    if (list === undefined) return [];
    const { path, records, name, query } = list;
    const narrowed: Query = kind === 'operator-resource' ? { kind: before[0] } : {};
    const request = { method: 'GET', path, query: { limit: AT_MOST, ...query, ...narrowed } } as const;
    const page = await api.json<Record<string, Listed[]>>(request, AbortSignal.timeout(PATIENCE_MS));
    const names = (page[records] ?? []).map((record) => (typeof name === 'string' ? record[name] : name(record)));
    return [...new Set(names.filter((one) => typeof one === 'string'))];
  } catch {
    return [];
  }
}
