/** Deployment intent groups of all projects with how they stand. */
import { sql } from 'kysely';
import type { ContextState } from '../../domain/deployments/context-state.ts';
import type { GroupState } from '../../domain/deployments/history.ts';
import type { RsyncStatus } from '../../domain/deployments/resource-status.ts';
import type { Metadata } from '../../domain/deployments/schema.ts';
import type { Db } from '../connection/database.ts';

export interface DeploymentRow {
  path: string;
  metadata: Metadata;
  created_at: Date;
  state: GroupState;
  /** Empty without an AppContext. */
  instance: string;
  revision: number;
  changed_at: Date;
  changed_by: string | null;
  /** State of the AppContext; null without one. */
  status: ContextState | null;
  /** Names of the apps, in the order in which they were added. */
  apps: string[];
  /** It is to be removed once nothing of it is left. */
  is_removed: boolean;
}

const part = (number: number) => sql`split_part(r.path, '/', ${sql.lit(number)})`;

/** The name of the short form where the path is one of it; in code-point order, as paths are. */
const NAME = sql<string>`(case
  when ${part(2)} = 'default' and ${part(5)} = 'v1' and ${part(4)} = ${part(7)} and length(${part(7)}) <= 63 then ${part(7)}
  else ${part(2)} || '+' || ${part(4)} || '+' || ${part(5)} || '+' || ${part(7)} end) collate "C"`;

const COLUMNS = sql`r.path, r.metadata, r.created_at, a.state, a.instance, a.revision, a.time as changed_at,
  a.actor as changed_by, c.state as status,
  array(select p.metadata ->> 'name' from placement_records p
    where p.parent = r.parent and p.kind = 'app' order by p.position) as apps,
  exists (select from deployment_removals d where d.path = r.path) as is_removed`;

/** Every group has an action: its history begins in the transaction that makes it. */
const BESIDE = sql`join lateral (
    select state, instance, revision, time, actor from deployment_actions where owner = r.path order by number desc limit 1
  ) a on true
  left join deployment_contexts c on c.id = a.instance and c.owner = r.path`;

/** Returns deployments by name, in code-point order, behind a name. What stands beside them is read of those of the page alone. */
export async function listDeployments(db: Db, after: string, limit: number): Promise<DeploymentRow[]> {
  const { rows } = await sql<DeploymentRow>`select ${COLUMNS} from (
      select r.*, ${NAME} as name from placement_records r
      where r.kind = 'group' and ${NAME} > ${after} order by ${NAME} limit ${limit}
    ) r ${BESIDE} order by r.name`.execute(db);
  return rows;
}

export async function findDeployment(db: Db, path: string): Promise<DeploymentRow | null> {
  const { rows } = await sql<DeploymentRow>`select ${COLUMNS} from placement_records r ${BESIDE}
    where r.kind = 'group' and r.path = ${path}`.execute(db);
  return rows[0] ?? null;
}

/** Returns how many resources of each of these AppContexts have each status. */
export async function countStatusesOf(
  db: Db,
  contexts: readonly string[],
): Promise<Map<string, Partial<Record<RsyncStatus, number>>>> {
  const counts = new Map<string, Partial<Record<RsyncStatus, number>>>();
  if (contexts.length === 0) return counts;
  const rows = await db
    .selectFrom('context_resources')
    .select(({ fn }) => ['context', 'status', fn.countAll<string>().as('count')])
    .where('context', 'in', [...contexts])
    .groupBy(['context', 'status'])
    .execute();
  for (const { context, status, count } of rows) {
    counts.set(context, { ...counts.get(context), [status]: Number(count) });
  }
  return counts;
}
