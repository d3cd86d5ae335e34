/** Makes the rows of an AppContext from those of its apps: inside the database, nothing is parsed. */
import { sql } from 'kysely';
import type { ClusterRef } from '../../domain/deployments/naming.ts';
import type { ContextSettings } from '../../domain/deployments/record-schema.ts';
import type { Db } from '../connection/database.ts';
import { rowsOf, type StoredManifest, slicesOf } from './app-manifests.ts';

export interface PlacedApp {
  /** Path of the app's record; null: it has no manifests of its own. */
  path: string | null;
  name: string;
  clusters: readonly ClusterRef[];
  /** Manifests that stand nowhere else. */
  manifests?: readonly StoredManifest[];
}

export interface NewContext {
  id: string;
  owner: string;
  cloud: string;
  namespace: string;
  settings: ContextSettings;
  actor: string | null;
}

/** Adds an AppContext with all its rows; it wants to be applied. Returns the number of its resources. */
export async function insertContext(
  trx: Db,
  { settings, ...context }: NewContext,
  apps: readonly PlacedApp[],
  now: Date,
): Promise<number> {
  await trx
    .insertInto('deployment_contexts')
    .values({
      ...context,
      ...{ settings: JSON.stringify(settings), state: 'Instantiating', wanted: 'apply' },
      ...{ created_at: now, wanted_at: now, changed_at: now },
    })
    .execute();
  await trx.insertInto('context_streams').values({ context: context.id }).execute();
  let resources = 0;
  for (const [position, app] of apps.entries()) resources += await insertApp(trx, context.id, app, position, now);
  return resources;
}

async function insertApp(trx: Db, context: string, app: PlacedApp, position: number, now: Date): Promise<number> {
  const { name, path, clusters, manifests = [] } = app;
  await trx
    .insertInto('context_groups')
    .values(clusters.map((cluster) => ({ ...{ context, app: name, position }, ...cluster })))
    .execute();
  if (path !== null) {
    await sql`insert into context_manifests
        (context, app, number, key, api_group, version, kind, namespace, name, manifest, seal_id, sealed)
      select ${context}, ${name}, number, key, api_group, version, kind, namespace, name, manifest, seal_id, sealed
      from app_manifests where app = ${path}`.execute(trx);
  } else if (manifests.length === 0) return 0;
  else {
    const rows = rowsOf(manifests).map((row) => ({ context, app: name, ...row }));
    for (const slice of slicesOf(rows)) await trx.insertInto('context_manifests').values(slice).execute();
  }
  const made = await sql`insert into context_resources
      (context, app, provider, cluster, key, number, status, changed_at)
    select g.context, g.app, g.provider, g.cluster, m.key, m.number, 'Pending', ${now}
    from context_groups g join context_manifests m on m.context = g.context and m.app = g.app
    where g.context = ${context} and g.app = ${name}`.execute(trx);
  return Number(made.numAffectedRows ?? 0n);
}
