/** Who else brings an object to clusters: other apps, other AppContexts. */
import type { Db } from '../connection/database.ts';
import type { GroupKey, GroupResource } from './context-resources.ts';

/**
 * Returns whether an owner of an object has adopted it: on this cluster, or on another where this one is not its own; a cluster may be registered
 * twice. `within`: namespace of the object; null: its kind has none.
 */
export async function isAdoptedBy(
  db: Db,
  { context, app, provider, cluster }: GroupKey,
  { group, kind, name }: Pick<GroupResource, 'group' | 'kind' | 'name'>,
  within: string | null,
): Promise<boolean> {
  const rows = await ownersOf(db, { group, kind, name })
    .select(['r.provider', 'r.cluster', 'r.finding', 'm.namespace', 'c.namespace as usual'])
    .where('r.context', '=', context)
    .where('r.app', '=', app)
    .execute();
  const same = rows.filter(({ namespace, usual }) => within === null || (namespace || usual) === within);
  const here = same.filter((row) => row.provider === provider && row.cluster === cluster);
  return (here.length > 0 ? here : same).some(({ finding }) => finding === 'adopted');
}

/**
 * Returns the label of another owner of an object that others may use (Namespace, CustomResourceDefinition) on a cluster: another app, or an
 * AppContext that has not ended. Null: there is none.
 */
export async function findHeir(
  db: Db,
  { context, app, provider, cluster }: GroupKey,
  { group, kind, name }: Pick<GroupResource, 'group' | 'kind' | 'name'>,
): Promise<{ context: string; app: string } | null> {
  const heir = await ownersOf(db, { group, kind, name })
    .select(['r.context', 'r.app'])
    .where('r.provider', '=', provider)
    .where('r.cluster', '=', cluster)
    // Its apply may be on the way.
    .where(({ eb, or }) => or([eb('r.status', '=', 'Applied'), eb('r.attempted', '=', true)]))
    .where('r.status', '!=', 'Deleted')
    .where('c.state', 'in', ['Instantiating', 'Instantiated', 'InstantiateFailed'])
    .where(({ eb, or }) => or([eb('r.context', '!=', context), eb('r.app', '!=', app)]))
    .orderBy('r.context')
    .orderBy('r.app')
    .limit(1)
    .executeTakeFirst();
  return heir ?? null;
}

/** Rows of all AppContexts that bring an object to clusters. */
function ownersOf(db: Db, { group, kind, name }: Pick<GroupResource, 'group' | 'kind' | 'name'>) {
  return db
    .selectFrom('context_resources as r')
    .innerJoin('context_manifests as m', (join) =>
      join.onRef('m.context', '=', 'r.context').onRef('m.app', '=', 'r.app').onRef('m.key', '=', 'r.key'),
    )
    .innerJoin('deployment_contexts as c', 'c.id', 'r.context')
    .where('m.api_group', '=', group)
    .where('m.kind', '=', kind)
    .where('m.name', '=', name);
}
