/** Kinds of dependents that are watched for the entries of an operator, whichever of its machines has made an object of them. */
import type { Gvk } from '../../domain/operator/names.ts';
import type { DependentKind } from '../../domain/operator/proxy-ports.ts';
import type { Db } from '../connection/database.ts';

/** A kind of dependents, and the entry whose resources it belongs to. */
export interface DependentPair {
  entry: Gvk;
  kind: DependentKind;
}

/** Keeps a kind of dependents; one that is kept stays as it is. */
export async function writeDependentKind(
  db: Db,
  operator: string,
  { entry, kind }: DependentPair,
  now: Date,
): Promise<void> {
  const { group, version, kind: word, resource, namespaced, mark } = kind;
  await db
    .insertInto('operator_dependents')
    .values({
      operator,
      ...{ owner_group: entry.group, owner_version: entry.version, owner_kind: entry.kind },
      ...{ api_group: group, version, kind: word, resource, namespaced, mark, noted_at: now },
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns the kinds of dependents of an operator. */
export async function listDependentKinds(db: Db, operator: string): Promise<DependentPair[]> {
  const rows = await db
    .selectFrom('operator_dependents')
    .selectAll()
    .where('operator', '=', operator)
    .orderBy('noted_at')
    .execute();
  return rows.map((row) => ({
    entry: { group: row.owner_group, version: row.owner_version, kind: row.owner_kind },
    kind: {
      ...{ group: row.api_group, version: row.version, kind: row.kind },
      ...{ resource: row.resource, namespaced: row.namespaced, mark: row.mark },
    },
  }));
}

/** Notes why a kind of dependents cannot be watched now; null: it is watched. */
export async function noteDependentState(
  db: Db,
  operator: string,
  { entry, kind }: DependentPair,
  reason: string | null,
): Promise<void> {
  await db
    .updateTable('operator_dependents')
    .set({ reason })
    .where('operator', '=', operator)
    .where('owner_group', '=', entry.group)
    .where('owner_version', '=', entry.version)
    .where('owner_kind', '=', entry.kind)
    .where('api_group', '=', kind.group)
    .where('version', '=', kind.version)
    .where('kind', '=', kind.kind)
    .where('mark', '=', kind.mark)
    .execute();
}
