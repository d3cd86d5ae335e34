/** Resources, reconciles and watches of operators as people see them. */
import type {
  OperatorReconcileView,
  OperatorResourceView,
  OperatorWatchView,
} from '../../../domain/operator/view-schema.ts';
import { cell, type View } from '../../output/columns.ts';
import { fieldList } from '../../output/table.ts';
import { oneLine } from '../../terminal/neutralise.ts';

type Named = Pick<OperatorResourceView, 'namespace' | 'name'>;

/** `ns/name`, or the name alone of a cluster-scoped resource. */
export const nameOf = ({ namespace, name }: Named): string => (namespace === '' ? name : `${namespace}/${name}`);

export const resourceList: View<OperatorResourceView> = {
  noun: 'resources',
  name: nameOf,
  columns: [
    { title: 'KIND', value: ({ kind }) => kind },
    { title: 'NAME', value: nameOf },
    { title: 'PHASE', value: ({ phase }) => phase },
    { title: 'NEXT', value: (resource) => cell(resource.next_attempt_at) },
    { title: 'FAILURES', value: (resource) => cell(resource.failures_in_a_row || null) },
    { title: 'REASON', value: ({ reason }) => cell(reason) },
    { title: 'OPERATOR', value: ({ operator }) => operator, wide: true },
    { title: 'GROUP', value: ({ group }) => group, wide: true },
    { title: 'VERSION', value: ({ version }) => version, wide: true },
    { title: 'ID', value: ({ id }) => id, wide: true },
  ],
};

/** A resource for people. */
export function resourceDetails(resource: OperatorResourceView): string {
  const { group, version, kind, paused, causes } = resource;
  const fields = fieldList([
    ['resource', nameOf(resource)],
    ['kind', `${kind} (${group === '' ? version : `${group}/${version}`})`],
    ['operator', resource.operator],
    ['phase', resource.phase],
    ['reason', cell(resource.reason)],
    ['next attempt', resource.next_attempt_at ?? 'at its next change'],
    ['failures in a row', cell(resource.failures_in_a_row)],
    ['paused', paused ? `until ${resource.paused_until ?? 'somebody resumes it'}` : ''],
    ['generation', cell(resource.generation)],
    ['uid', resource.uid],
    ['id', resource.id],
    ['causes', cell(causes?.length)],
  ]);
  return fields + (causes ?? []).map(({ at, ...cause }) => `  ${at}  ${oneLine(causeText(cause))}\n`).join('');
}

/** `dependent Deployment ns/web by helm`, `retry 3`, `manual by ann` */
export function causeText({ type, object, manager, by = manager, attempt }: OperatorReconcileView['cause']): string {
  return [type, object, attempt, by === undefined ? undefined : `by ${by}`]
    .filter((word) => word !== undefined)
    .join(' ');
}

export const reconcileList: View<OperatorReconcileView> = {
  noun: 'reconciles',
  name: ({ id }) => id,
  columns: [
    { title: 'STARTED', value: (record) => record.started_at },
    { title: 'CAUSE', value: ({ cause }) => causeText(cause) },
    { title: 'OUTCOME', value: ({ outcome }) => outcome ?? 'open' },
    { title: 'CHANGED', value: ({ counters }) => cell(counters?.changed) },
    { title: 'WRITES', value: ({ writes }) => cell(writes.total) },
    { title: 'MESSAGE', value: ({ messages }) => cell(messages[0]) },
    { title: 'ID', value: ({ id }) => id },
    { title: 'HOST', value: ({ host }) => host, wide: true },
    { title: 'GENERATION', value: (record) => cell(record.generation), wide: true },
  ],
};

type Write = NonNullable<OperatorReconcileView['writes']['listed']>[number];

function writeText({ verb, group, kind, subresource, ...named }: Write): string {
  const of = [group === '' ? kind : `${kind}.${group}`, subresource].filter((word) => word !== '').join('/');
  return `  ${verb} ${of} ${nameOf(named)}`;
}

/** A reconcile for people, with what its run wrote. */
export function reconcileDetails(record: OperatorReconcileView): string {
  const { counters, writes } = record;
  const counts = counters === null ? '' : Object.entries(counters).map(([name, count]) => `${name} ${count}`);
  const fields = fieldList([
    ['reconcile', record.id],
    ['resource', `${record.kind} ${nameOf(record)}`],
    ['operator', record.operator],
    ['cause', causeText(record.cause)],
    ['outcome', record.outcome ?? 'open'],
    ['cancelled by', cell(record.cancelled_by)],
    ['finalizer run', record.finalizer_run ? 'yes' : ''],
    ['generation', cell(record.generation)],
    ['host', record.host],
    ['started', record.started_at],
    ['ended', cell(record.ended_at)],
    ['tasks', counts === '' ? '' : counts.join(', ')],
    ['runs again after', record.requeue_after_seconds === null ? '' : `${record.requeue_after_seconds} s`],
    ['run', cell(record.run_id)],
    ['writes', cell(writes.total)],
  ]);
  const lines = [...record.messages.map((line) => `  ${line}`), ...(writes.listed ?? []).map(writeText)];
  return [fields, ...lines.map((line) => `${line}\n`)].join('');
}

const kindText = ({ group, version, kind }: Pick<OperatorWatchView, 'group' | 'version' | 'kind'>): string =>
  `${group === '' ? '' : `${group}/`}${version} ${kind}`;

export const watchList: View<OperatorWatchView> = {
  noun: 'watches',
  name: kindText,
  columns: [
    { title: 'OPERATOR', value: ({ operator }) => operator },
    { title: 'KIND', value: kindText },
    { title: 'STATE', value: ({ state }) => state },
    { title: 'AT ONCE', value: ({ slots }) => cell(slots) },
    { title: 'FINALIZER', value: ({ finalizer }) => cell(finalizer) },
    { title: 'DEPENDENTS', value: ({ dependents }) => [...new Set(dependents.map(({ kind }) => kind))].join(',') },
    { title: 'REASON', value: ({ reason }) => cell(reason) },
  ],
};
