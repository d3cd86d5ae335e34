import type { SessionItem, SessionProgress } from '../../../domain/sessions/detail-schema.ts';
import { type ApiClient, segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { counted, someOf } from '../../output/names.ts';

/** Runs that a message tells more of than their ids. */
const TOLD = 10;

/** Runs in words: `session d1 (layer 1/1, 1 host, 12 s)`; by their ids where the API does not say more. */
export async function describeRuns(api: ApiClient, runs: readonly string[]): Promise<string> {
  const told = await sessionsOf(api, runs.slice(0, TOLD));
  return someOf(
    runs.map((run) => told.get(run) ?? run),
    ', ',
  );
}

async function sessionsOf(api: ApiClient, runs: readonly string[]): Promise<Map<string, string>> {
  const told = new Map<string, string>();
  try {
    const open = await allPages<SessionItem>(api, '/api/v1/sessions', 'sessions', { status: 'running' });
    for (const run of runs) {
      const session = open.find(({ id }) => run.startsWith(`${id}-`));
      if (session === undefined) continue;
      const path = `/api/v1/sessions/${segment(session.name)}/progress`;
      const { layer, layers_total, hosts, elapsed } = await api.json<SessionProgress>({ method: 'GET', path });
      const place = layer === null ? '' : `layer ${layer + 1}/${layers_total}, `;
      told.set(run, `session ${session.name} (${place}${counted(hosts.seen, 'host')}, ${Math.round(elapsed)} s)`);
    }
  } catch {
    // That runs are active is known from the disk; a stack whose API is not well is told of by their ids.
  }
  return told;
}
