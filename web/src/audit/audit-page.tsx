import { useSearch } from '@tanstack/react-router';
import type { AuditRecord } from '../../../domain/audit/schema.ts';
import { readingRefusal } from '../access/may.ts';
import { useMe } from '../access/me.ts';
import { ListPage } from '../shared/list/list-page.tsx';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { AUDIT_FILTERS, type AuditedRequest, byRequest, changedMembers, PAGE } from './requests.ts';

/** Records that a row shows at most. */
const SHOWN = 20;

interface AuditAnswer {
  records: AuditRecord[];
  next: { after_id: string } | null;
}

/** Who changed what, and why? */
export function AuditPage() {
  const { dropped, ...search } = useSearch({ from: '/audit' });
  const { data: me } = useMe();
  return (
    <ListPage<AuditAnswer, AuditedRequest>
      name="Audit"
      search={search}
      dropped={dropped}
      filters={AUDIT_FILTERS}
      api={{ path: '/audit', ask: { limit: String(PAGE) } }}
      queryKey={['audit']}
      topic="audit"
      refusal={readingRefusal(me)}
      rows={({ records, next }) => byRequest(records, next !== null)}
      keyOf={({ id }) => id}
      columns={COLUMNS}
      order="newest"
      empty={{
        narrowed: 'No change matches the filter.',
        all: 'All changes',
        nothing: 'Nothing is recorded.',
      }}
      command="./muster audit list"
    />
  );
}

const COLUMNS: readonly ListColumn<AuditedRequest>[] = [
  { head: 'Time', cell: ({ time }) => <Moment at={time} /> },
  { head: 'Who', cell: ({ actor }) => (actor === null ? 'not known' : shownText(actor)) },
  { head: 'What', cell: (request) => <What request={request} /> },
  { head: 'Which', cell: ({ which }) => shownText(which) },
  { head: 'Reason', cell: ({ reason }) => shownText(reason ?? '') },
];

function What({ request: { what, via, records } }: { request: AuditedRequest }) {
  return (
    <details>
      <summary>{shownText(what.join(', '))}</summary>
      {via !== null && <p className="quiet">{shownText(via)}</p>}
      <ul>
        {records.slice(0, SHOWN).map((record) => (
          <li key={record.id}>
            {shownText(record.name)}
            <Members record={record} />
          </li>
        ))}
      </ul>
      {records.length > SHOWN && <p>and {records.length - SHOWN} others of this page</p>}
    </details>
  );
}

function Members({ record }: { record: AuditRecord }) {
  return (
    <ul>
      {changedMembers(record).map(({ member, before, after }) => (
        <li key={member}>
          {shownText(member)}: {before === '' ? 'nothing' : shownText(before)} becomes{' '}
          {after === '' ? 'nothing' : shownText(after)}
        </li>
      ))}
    </ul>
  );
}
