import { overallResult } from '../../domain/runs/host-progress.ts';
import type { SessionHost } from '../../domain/sessions/detail-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { readHostLayers, readHostNames, readHostNamesByResult } from '../../store/runs/host-result-reads.ts';

/** What these hosts reached in the session, in the order given. */
export async function describeHosts(db: Db, sessionId: string, hosts: string[]): Promise<SessionHost[]> {
  const byHost = new Map<string, SessionHost['layers']>();
  for (const { host, ...layer } of await readHostLayers(db, sessionId, hosts)) {
    byHost.set(host, [...(byHost.get(host) ?? []), layer]);
  }
  return hosts.map((host) => {
    const layers = byHost.get(host) ?? [];
    return { host, result: overallResult(layers), layers };
  });
}

/**
 * At most `limit` hosts after one, and whether there are more: by code point, or `byResult` those that failed first, then those that are
 * not finished or were not reached.
 */
export async function listHosts(
  db: Db,
  sessionId: string,
  { after, limit, byResult }: { after: string; limit: number; byResult: boolean },
): Promise<{ hosts: SessionHost[]; more: boolean }> {
  const read = byResult ? readHostNamesByResult : readHostNames;
  const names = await read(db, sessionId, after, limit + 1);
  return { hosts: await describeHosts(db, sessionId, names.slice(0, limit)), more: names.length > limit };
}
