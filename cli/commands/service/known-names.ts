/** Names of records for completion, by the word of the API and fast, or none. */
import type { ApiClient, Query } from '../../client/api-client.ts';
import type { CliContext } from '../../context.ts';

/** Longest wait for the API, ms: a key is pressed, and a person waits. */
const PATIENCE_MS = 350;
/** Names at most. */
const AT_MOST = 1_000;

/** Where the records of a noun are listed, and which member is their name. */
const LISTS: Readonly<Record<string, { path: string; records: string; name: string; query?: Query }>> = {
  session: { path: '/api/v1/sessions', records: 'sessions', name: 'name', query: { order: 'newest' } },
  component: { path: '/v3/components', records: 'components', name: 'id' },
  configuration: { path: '/v3/configurations', records: 'configurations', name: 'name' },
  source: { path: '/v3/sources', records: 'sources', name: 'name' },
  schedule: { path: '/api/v1/schedules', records: 'schedules', name: 'name' },
  webhook: { path: '/api/v1/webhooks', records: 'webhooks', name: 'name' },
  secret: { path: '/api/v1/secrets', records: 'secrets', name: 'name', query: { limit: undefined } },
  token: { path: '/api/v1/tokens', records: 'tokens', name: 'name' },
  rollout: { path: '/api/v1/rollouts', records: 'rollouts', name: 'configuration' },
};

/** Names of the records of a noun. A failure gives no names: a completion has no place for a message. */
export async function knownNames(context: CliContext, api: ApiClient, kind: string): Promise<string[]> {
  try {
    if (kind === 'context') return Object.keys((await context.contexts?.read())?.contexts ?? {});
    const list = Object.hasOwn(LISTS, kind) ? LISTS[kind] : undefined;
    if (list === undefined) return [];
    const { path, records, name, query } = list;
    const request = { method: 'GET', path, query: { limit: AT_MOST, ...query } } as const;
    const page = await api.json<Record<string, Record<string, unknown>[]>>(request, AbortSignal.timeout(PATIENCE_MS));
    return (page[records] ?? []).flatMap((record) => (typeof record[name] === 'string' ? [record[name]] : []));
  } catch {
    return [];
  }
}
