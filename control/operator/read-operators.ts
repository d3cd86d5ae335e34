import { musterError } from '../../domain/errors.ts';
import type { ResourceQuery } from '../../domain/operator/request-schema.ts';
import { SEEN_MS } from '../../domain/operator/resource-words.ts';
import type {
  OperatorReconcileView,
  OperatorResourceView,
  OperatorView,
  OperatorWatchView,
} from '../../domain/operator/view-schema.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  countOperators,
  findReadReconcile,
  findResource,
  listOperators,
  listReconciles,
  listResources,
  listWatches,
  type OperatorCounts,
  type ReadReconcile,
  type ReadResource,
} from '../../store/operator/reads.ts';
import { readRunnerEvents } from '../../store/operator/reconciles.ts';
import { readWrites } from '../../store/operator/writes.ts';
import { mapPage, onePage, type Page } from '../changes/pages.ts';
import { operatorView, reconcileView, resourceView, watchView } from './operator-views.ts';

export interface ReadDependencies {
  db: Db;
  clock(): Date;
}

/** Returns all operators with their processes, by name. */
export async function readOperators({ db, clock }: ReadDependencies): Promise<OperatorView[]> {
  const now = clock();
  return (await listOperators(db, now)).map((operator) => operatorView(operator, now));
}

/** Throws `operator_not_known` where there is no operator of this name. */
export async function knownOperator({ db, clock }: ReadDependencies, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  const operators = await listOperators(db, clock());
  if (!operators.some((operator) => operator.name === name)) {
    throw musterError('operator_not_known', `There is no operator ${name}`, 'operator');
  }
}

/** Returns the entries of an operator, or of all. Throws `operator_not_known`. */
export async function readOperatorWatches(
  deps: ReadDependencies,
  operator: string | undefined,
): Promise<OperatorWatchView[]> {
  await knownOperator(deps, operator);
  return (await listWatches(deps.db, operator)).map(watchView);
}

/** Returns a page of resources. Throws `operator_not_known`. */
export async function pageOfResources(
  deps: ReadDependencies,
  { limit, after_id, phase, ...filter }: ResourceQuery,
): Promise<Page<OperatorResourceView>> {
  await knownOperator(deps, filter.operator);
  const after = isUuid(after_id) ? after_id : null;
  const page = await onePage(limit, (rows) =>
    listResources(deps.db, { ...filter, phase: phase === '' ? undefined : phase }, after, rows, deps.clock()),
  );
  return mapPage(page, resourceView);
}

/** Returns a resource. Throws `operator_resource_not_found`. */
export async function getResource(deps: ReadDependencies, id: string): Promise<OperatorResourceView> {
  return resourceView(await readResource(deps, id));
}

async function readResource({ db, clock }: ReadDependencies, id: string): Promise<ReadResource> {
  const found = isUuid(id) ? await findResource(db, id, clock()) : null;
  if (found === null) throw musterError('operator_resource_not_found', `There is no resource with the id ${id}`);
  return found;
}

/** Returns a page of the records of a resource, newest first. Throws `operator_resource_not_found`. */
export async function pageOfReconciles(
  deps: ReadDependencies,
  id: string,
  { limit, after_id }: { limit: number; after_id: string },
): Promise<Page<OperatorReconcileView>> {
  await readResource(deps, id);
  const after = isUuid(after_id) ? after_id : null;
  const page = await onePage(limit, (rows) => listReconciles(deps.db, id, after, rows));
  return mapPage(page, (record) => reconcileView(record, null));
}

/** Returns a record as it is stored. Throws `operator_reconcile_not_found`. */
export async function readReconcile({ db }: Pick<ReadDependencies, 'db'>, id: string): Promise<ReadReconcile> {
  const found = isUuid(id) ? await findReadReconcile(db, id) : null;
  if (found === null) throw musterError('operator_reconcile_not_found', `There is no reconcile with the id ${id}`);
  return found;
}

/** Returns a record with what its run wrote. Throws `operator_reconcile_not_found`. */
export async function getReconcile(deps: ReadDependencies, id: string): Promise<OperatorReconcileView> {
  const record = await readReconcile(deps, id);
  const { runId } = record;
  const [writes, events] =
    runId === null
      ? [{ total: 0, listed: [] }, []]
      : await Promise.all([readWrites(deps.db, runId), readRunnerEvents(deps.db, runId)]);
  return reconcileView(record, { writes, events });
}

/** Returns what the gauges of the API show of operators. */
export function countOperatorWork({ db, clock }: ReadDependencies): Promise<OperatorCounts> {
  const now = clock();
  return countOperators(db, now, new Date(now.getTime() - SEEN_MS));
}
