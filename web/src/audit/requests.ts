/** The audit as a page shows it: one row a request, with the records that it changed. */
import type { AuditRecord } from '../../../domain/audit/schema.ts';
import type { ListFilter } from '../shared/list/filters.ts';
import { type Dropped, keptValues, matchOf, wholeTextOf } from '../shared/search-values.ts';

/** Records of one page. */
export const PAGE = 500;
/** Names that a row shows at most; above, it has their count. */
const NAMED = 20;
const [SHORT, MOMENT] = [600, /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,12}(Z|[+-][0-9]{2}:[0-9]{2})$/];

export const AUDIT_FILTERS: readonly ListFilter[] = [
  { kind: 'text', name: 'actor', label: 'Who', hint: 'token/ci', flag: '--actor' },
  { kind: 'text', name: 'kind', label: 'Kind', hint: 'component', flag: '--kind' },
  { kind: 'text', name: 'name', label: 'Name', hint: 'n1', flag: '--name' },
  { kind: 'text', name: 'action', label: 'Action', hint: 'update', flag: '--action' },
  { kind: 'silent', name: 'since', flag: '--since' },
  { kind: 'silent', name: 'until', flag: '--until' },
];

export interface AuditSearch extends Dropped {
  actor?: string | undefined;
  kind?: string | undefined;
  name?: string | undefined;
  action?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
  after_id?: string | undefined;
}

/** Returns what the URL says. */
export function readAuditSearch(given: Record<string, unknown>): AuditSearch {
  return keptValues({
    actor: wholeTextOf(given.actor, SHORT),
    kind: wholeTextOf(given.kind, SHORT),
    name: wholeTextOf(given.name, SHORT),
    action: wholeTextOf(given.action, SHORT),
    since: given.since === undefined ? undefined : matchOf(MOMENT, given.since),
    until: given.until === undefined ? undefined : matchOf(MOMENT, given.until),
    after_id: given.after_id === undefined ? undefined : matchOf(/^[0-9]{1,13}-[0-9]{1,18}$/, given.after_id),
  });
}

/** What one request changed, as far as the page has it. */
export interface AuditedRequest {
  /** Of its newest record. */
  id: string;
  time: string;
  actor: string | null;
  reason: string | null;
  via: string | null;
  /** What was done to which kinds, as `update component`. */
  what: string[];
  /** Names of the records, or how many they are. */
  which: string;
  records: AuditRecord[];
  /** Whether the page ends within it, so that there may be more of it. */
  isCut: boolean;
}

/**
 * Returns the records by request, in their order. What Muster did by itself is a row each.
 * @param hasMore whether another page follows
 */
export function byRequest(records: readonly AuditRecord[], hasMore: boolean): AuditedRequest[] {
  const groups: AuditRecord[][] = [];
  for (const record of records) {
    const last = groups.at(-1);
    const isSame = record.request_id !== null && last?.[0]?.request_id === record.request_id;
    if (isSame) last?.push(record);
    else groups.push([record]);
  }
  return groups.flatMap((group, place) => requestOf(group, hasMore && place === groups.length - 1));
}

function requestOf(records: AuditRecord[], mayBeCut: boolean): AuditedRequest[] {
  const [first] = records;
  if (first === undefined) return [];
  const isCut = mayBeCut && first.request_id !== null;
  const names = [...new Set(records.map(({ name }) => name))];
  const which =
    names.length <= NAMED && !isCut ? names.join(', ') : `${names.length}${isCut ? ' or more' : ''} records`;
  const what = [...new Set(records.map(({ action, kind }) => `${action} ${kind}`))];
  const { id, time, actor, via } = first;
  return [
    { id, time, actor, reason: records.find(({ reason }) => reason)?.reason ?? null, via, what, which, records, isCut },
  ];
}

/** Members of a record that changed, each as it was and is. */
export interface ChangedMember {
  member: string;
  before: string;
  after: string;
}

/** Returns the members that a change has, as texts; '' where there is none on that side. */
export function changedMembers({ before, after }: Pick<AuditRecord, 'before' | 'after'>): ChangedMember[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const textOf = (side: Record<string, unknown> | null, name: string) =>
    side === null || !Object.hasOwn(side, name) ? '' : JSON.stringify(side[name]);
  return names.map((member) => ({ member, before: textOf(before, member), after: textOf(after, member) }));
}
