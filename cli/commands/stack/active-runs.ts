import type { SessionDetail, SessionItem, SessionProgress } from '../../../domain/sessions/detail-schema.ts';
import { type ApiClient, segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { layerWords } from '../../output/layers.ts';
import { counted, someOf } from '../../output/names.ts';

/** Runs that a message tells more of than their ids. */
const TOLD = 10;

/** Runs in words: `session d1 (layer 1/1 site.yml, 1 host, 12 s)`; by their ids where the API does not say more. */
export async function describeRuns(api: ApiClient, runs: readonly string[]): Promise<string> {
  const some = runs.slice(0, TOLD);
  const told = new Map([...(await sessionsOf(api, some)), ...(await reconcilesOf(api, some))]);
  return someOf(
    runs.map((run) => told.get(run) ?? run),
    ', ',
  );
}

/** The layers that a session runs; undefined where they cannot be read. */
async function layersOf(api: ApiClient, path: string): Promise<SessionDetail['snapshot']['layers'] | undefined> {
  try {
    const { snapshot } = await api.json<SessionDetail>({ method: 'GET', path });
    return snapshot.layers.length === 0 ? undefined : snapshot.layers;
  } catch {
    return undefined;
  }
}

async function sessionsOf(api: ApiClient, runs: readonly string[]): Promise<Map<string, string>> {
  const told = new Map<string, string>();
  try {
    const open = await allPages<SessionItem>(api, '/api/v1/sessions', 'sessions', { status: 'running' });
    for (const run of runs) {
      const session = open.find(({ id }) => run.startsWith(`${id}-`));
      if (session === undefined) continue;
      const path = `/api/v1/sessions/${segment(session.name)}`;
      const [{ layer, layers_total, hosts, elapsed }, layers] = await Promise.all([
        api.json<SessionProgress>({ method: 'GET', path: `${path}/progress` }),
        layersOf(api, path),
      ]);
      const known = layers ?? Array.from({ length: layers_total }, (_, index) => ({ index }));
      const playbook = layers?.find(({ index }) => index === layer)?.playbook;
      const place = layer === null ? '' : `${layerWords(layer, known, playbook)}, `;
      told.set(run, `session ${session.name} (${place}${counted(hosts.seen, 'host')}, ${Math.round(elapsed)} s)`);
    }
  } catch {
    // That runs are active is known from the disk; a stack whose API is not well is told of by their ids.
  }
  return told;
}

/** `Widget ns/name (reconcile ID)` */
async function reconcilesOf(api: ApiClient, runs: readonly string[]): Promise<Map<string, string>> {
  const told = new Map<string, string>();
  for (const run of runs) {
    const id = /^reconcile-([0-9a-f-]{36})-\d+$/.exec(run)?.[1];
    if (id === undefined) continue;
    const path = `/api/v1/operator/reconciles/${segment(id)}`;
    const record = await api.json<ReconcileNames>({ method: 'GET', path }).catch(() => null);
    if (record === null) continue;
    const name = record.namespace === '' ? record.name : `${record.namespace}/${record.name}`;
    told.set(run, `${record.kind} ${name} (reconcile ${id})`);
  }
  return told;
}

type ReconcileNames = Record<'kind' | 'namespace' | 'name', string>;
