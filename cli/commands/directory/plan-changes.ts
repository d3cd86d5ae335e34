/** Which requests make the API's records as a directory says them. Only reads. */
import type { ApiClient } from '../../client/api-client.ts';
import type { Document } from '../../input/documents.ts';
import { counted } from '../../output/names.ts';
import { policyDropped } from '../../output/policy-text.ts';
import { KINDS, type Kind, keptOf, nameOf, pathOf, RULES, storedRecords } from './kinds.ts';
import type { Directory } from './read-directory.ts';
import { type RecordChange, recordChange } from './record-changes.ts';

export interface PlannedChange extends RecordChange {
  kind: Kind;
  /** What is done to the records, as it is said when it is done. */
  action: 'created' | 'changed' | 'deleted';
  names: string[];
  /** The file that wants it; undefined for what no file wants. */
  file?: string | undefined;
}

export interface Plan {
  /** In their order: creations and changes, then deletions from the last kind to the first. */
  changes: PlannedChange[];
  /** Records that are as the directory says. */
  unchanged: number;
  warnings: string[];
}

export interface PlanOptions {
  withState?: boolean;
  /** Delete what the directory lacks, of the kinds that have a folder. */
  prune?: boolean;
  pruneComponents?: boolean;
}

/** Components in one request. */
const AT_ONCE = 1_000;

/** Compares the directory with what is stored. Throws a `usage` failure for what no request can make. */
export async function planChanges(api: ApiClient, directory: Directory, options: PlanOptions): Promise<Plan> {
  const plan: Plan = { changes: [], unchanged: 0, warnings: [] };
  const deletions: PlannedChange[] = [];
  for (const kind of KINDS) {
    const isPruned = options.prune === true && kind !== 'options' && directory.folders.has(kind);
    if (!isPruned && !directory.records.some((record) => record.kind === kind)) continue;
    const stored = await storedByName(api, kind, options.withState === true);
    planKind(plan, directory, kind, stored, options.withState === true);
    if (isPruned) deletions.unshift(...pruned(plan, directory, kind, stored, options));
  }
  plan.changes = [...merged(plan.changes), ...deletions];
  return plan;
}

async function storedByName(api: ApiClient, kind: Kind, withState: boolean): Promise<Map<string, Document>> {
  const stored = new Map<string, Document>();
  for await (const record of storedRecords(api, kind, withState)) {
    stored.set(nameOf(kind, record), keptOf(kind, record, withState));
  }
  return stored;
}

function planKind(plan: Plan, { records }: Directory, kind: Kind, stored: Map<string, Document>, withState: boolean) {
  for (const { name, file, record, kind: itsKind } of records) {
    if (itsKind !== kind) continue;
    const before = stored.get(name);
    const change = recordChange(kind, { name, file, record: keptOf(kind, record, withState) }, before);
    const action = before === undefined ? 'created' : 'changed';
    if (change === null) plan.unchanged += 1;
    else plan.changes.push({ ...change, kind, action, names: [name], file });
    const policy = rolloutOf(before);
    if (policy !== undefined && rolloutOf(record) === undefined) plan.warnings.push(policyDropped(name, policy));
  }
}

const rolloutOf = (record: Document | undefined) =>
  (record?.muster as { rollout?: Parameters<typeof policyDropped>[1] } | undefined)?.rollout;

function pruned(
  plan: Plan,
  { records }: Directory,
  kind: Kind,
  stored: Map<string, Document>,
  { pruneComponents = false }: PlanOptions,
): PlannedChange[] {
  const wanted = new Set(records.flatMap((record) => (record.kind === kind ? [record.name] : [])));
  const gone = [...stored.keys()].filter((name) => !wanted.has(name));
  if (kind === 'components' && !pruneComponents) {
    const left = `${counted(gone.length, 'component')} of the API ${gone.length === 1 ? 'is' : 'are'} not in the directory`;
    if (gone.length > 0) plan.warnings.push(`${left} and left alone: --prune-components deletes them`);
    return [];
  }
  return gone.map((name) => ({
    ...{ kind, action: 'deleted' as const, names: [name], unsure: false },
    request: { method: 'DELETE' as const, path: pathOf(kind, name) },
  }));
}

/** Created components and changed components, many in one request each. */
function merged(changes: readonly PlannedChange[]): PlannedChange[] {
  const groups: PlannedChange[] = [];
  const open = new Map<string, PlannedChange>();
  for (const change of changes) {
    const { kind, action, names, request } = change;
    if (kind !== 'components') {
      groups.push(change);
      continue;
    }
    const group = open.get(action);
    if (group === undefined || group.names.length >= AT_ONCE) {
      const first = {
        ...change,
        file: undefined,
        names: [...names],
        request: { ...request, body: [...bodyOf(change)] },
      };
      open.set(action, first);
      groups.push(first);
    } else {
      group.names.push(...names);
      bodyOf(group).push(...bodyOf(change));
    }
  }
  return groups;
}

const bodyOf = ({ request }: PlannedChange): unknown[] => request.body as unknown[];

/** A change in messages: `configuration web`, `17 components`. */
export function subjectOf({ kind, names }: Pick<PlannedChange, 'kind' | 'names'>): string {
  const { noun, key } = RULES[kind];
  if (key === null) return noun;
  return names.length === 1 ? `${noun} ${names[0]}` : counted(names.length, noun);
}
