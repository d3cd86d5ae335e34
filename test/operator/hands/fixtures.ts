/** An operator on record: entries, resources, reconciles, as its processes would have written them. */
import { afterReconcile } from '../../../domain/operator/after-reconcile.ts';
import { type CauseType, urgencyOf } from '../../../domain/operator/cause.ts';
import { type ReconcileBegin, runIdOfReconcile } from '../../../domain/operator/reconcile.ts';
import type { ReconcileOutcome } from '../../../domain/operator/resource-words.ts';
import { DEFAULT_BACKOFF } from '../../../domain/operator/watch-entry.ts';
import type { Db } from '../../../store/connection/database.ts';
import { openReconciles } from '../../../store/operator/due.ts';
import { noteProcess, writeOperator } from '../../../store/operator/operators.ts';
import { endReconcile, findReconcile, type ReconcileRow, writeBegin } from '../../../store/operator/reconciles.ts';
import { writeNotes } from '../../../store/operator/resources.ts';

export const OPERATOR = 'demo';
export const MACHINE = 'disk-1';
export const FINALIZER = 'demo.io/finalizer';
export const WIDGET = { group: 'demo.io', version: 'v1', kind: 'Widget' };

/** Records an operator with the kind Widget and one process. */
export async function addOperator(db: Db, now: Date, name = OPERATOR, finalizer: string | null = FINALIZER) {
  const watch = { ...WIDGET, entryHash: 'h1', slots: 4, finalizer };
  await writeOperator(db, { name, home: '/opt/demo', version: '1.2.3' }, [watch], now);
  const process = { operator: name, machine: MACHINE, queue: 'q', slots: 2, version: '1.2.3' };
  await noteProcess(db, { ...process, engineReason: null }, now);
}

/** Records a widget that is due at once; returns the id of its resource. `cause` null: it is not due. */
export async function addWidget(
  db: Db,
  name: string,
  now: Date,
  { operator = OPERATOR, cause = 'created', namespace = 'ns' }: Partial<WidgetOptions> = {},
): Promise<string> {
  const object = { namespace, name, uid: `uid-${operator}-${name}`, generation: 1, mark: '', deleting: false };
  const due = cause === null ? null : { cause: { type: cause }, urgency: urgencyOf(cause) };
  await writeNotes(db, operator, WIDGET, [{ object, cause: due }], now);
  const row = await db
    .selectFrom('operator_resources')
    .select('id')
    .where('operator', '=', operator)
    .where('uid', '=', object.uid)
    .executeTakeFirstOrThrow();
  return row.id;
}

interface WidgetOptions {
  operator: string;
  cause: CauseType | null;
  namespace: string;
}

/** Opens a reconcile of a resource whose run has begun; returns its record. */
export async function begin(
  db: Db,
  resource: string,
  now: Date,
  { deletionCancels, ...more }: { drained?: true; finalizerRun?: boolean; deletionCancels?: boolean } = {},
): Promise<ReconcileRow> {
  const [id = ''] = await openReconciles(db, [{ id: resource, machine: MACHINE }], now);
  const does: ReconcileBegin = {
    ...{ does: 'run', finalizerRun: false, periodSeconds: 3_600, verbosity: 2, maxArtifacts: 20 },
    script: { playbook: '/opt/demo/p.yml', role: null },
    ...more,
  };
  const opened = await recordOf(db, id);
  const read = { dirty: opened.dirty, generation: 1, entryHash: 'h1', runId: runIdOfReconcile(id) };
  await writeBegin(db, opened, does, { ...read, deletionCancels: deletionCancels === true }, now);
  return recordOf(db, id);
}

/** Ends a reconcile. */
export async function end(db: Db, record: ReconcileRow, outcome: ReconcileOutcome, now: Date, messages: string[] = []) {
  const next = outcome === 'failed' ? ({ when: 'back_off' } as const) : ({ when: 'event' } as const);
  const after = afterReconcile({
    ...{ outcome, next, generation: record.generation, generationOfLastRun: record.lastGeneration, random: 0 },
    before: { failures: record.failures, interruptions: record.interruptions },
    backoff: DEFAULT_BACKOFF,
  });
  const rest = { loop: null, dependentsFrom: null };
  return endReconcile(db, await recordOf(db, record.id), { outcome, messages, after, ...rest }, now);
}

export async function recordOf(db: Db, id: string): Promise<ReconcileRow> {
  const record = await findReconcile(db, id);
  if (record === null) throw new Error(`no reconcile ${id}`);
  return record;
}
