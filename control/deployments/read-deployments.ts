/** Deployments as Muster's own surface shows them. */
import { addCounts } from '../../domain/deployments/counting.ts';
import { type DeploymentPlace, deploymentName, placeOfDeployment } from '../../domain/deployments/deployment-name.ts';
import type { DeploymentView } from '../../domain/deployments/deployment-schema.ts';
import { RSYNC_STATUSES } from '../../domain/deployments/resource-status.ts';
import { type MusterError, musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  countStatusesOf,
  type DeploymentRow,
  findDeployment,
  listDeployments,
} from '../../store/deployments/deployments.ts';
import type { StatusDependencies } from './query-status.ts';
import { isWhollyReady } from './whole-readiness.ts';

/** Returns a page of all deployments, and whether there are more. */
export async function pageOfDeployments(
  { db }: { db: Db },
  after: string,
  limit: number,
): Promise<{ deployments: DeploymentView[]; more: boolean }> {
  const rows = await listDeployments(db, after, limit + 1);
  const shown = rows.slice(0, limit);
  const counts = await countStatusesOf(
    db,
    shown.map(({ instance }) => instance).filter((instance) => instance !== ''),
  );
  const deployments = shown.map((row) => viewOf(row, counts.get(row.instance) ?? {}, null));
  return { deployments, more: rows.length > limit };
}

/** Returns a deployment. Throws `bad_request` for a name that is none, `not_found`. */
export async function getDeployment(deps: StatusDependencies, name: string): Promise<DeploymentView> {
  const { path } = placeOf(name);
  const row = await findDeployment(deps.db, path);
  if (row === null) throw deploymentNotFound(name);
  if (row.status === null) return viewOf(row, {}, null);
  const counts = await countStatusesOf(deps.db, [row.instance]);
  const isReady = row.status === 'Instantiated' && (await isWhollyReady(deps, row.instance));
  return viewOf(row, counts.get(row.instance) ?? {}, isReady);
}

/** Returns where a deployment has its records. Throws `bad_request` for a text that names none. */
export function placeOf(name: string): DeploymentPlace {
  const place = placeOfDeployment(name);
  if (place !== null) return place;
  throw musterError(
    'bad_request',
    `'${name.slice(0, 200)}' is no deployment: name it as <name>, or as <project>+<composite-app>+<version>+<name>`,
  );
}

export function deploymentNotFound(name: string): MusterError {
  return musterError('not_found', `Deployment '${name}' could not be found`);
}

function viewOf(row: DeploymentRow, counts: Record<string, number>, ready: boolean | null): DeploymentView {
  const name = deploymentName(row.path);
  const self = `/api/v1/deployments/${encodeURIComponent(name)}`;
  return {
    name,
    description: row.metadata.description,
    state: row.state,
    status: row.status,
    instance: row.instance === '' ? null : row.instance,
    revision: row.revision,
    apps: row.apps,
    counts: addCounts(RSYNC_STATUSES, [counts]) as Record<string, number>,
    ready,
    is_removed: row.is_removed,
    created_at: row.created_at.toISOString(),
    changed_at: row.changed_at.toISOString(),
    changed_by: row.changed_by,
    links: { self, status: `${self}/status`, intent_group: `/v2/${row.path}` },
  };
}
