import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import type { AuditRecord } from '../../../domain/audit/schema.ts';
import { readingRefusal } from '../access/may.ts';
import { useMe } from '../access/me.ts';
import { apiBase, callApi } from '../shared/api-call.ts';
import { curlCommand, shellWord } from '../shared/commands.ts';
import { CopyCommand } from '../shared/ui/copy-command.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { DroppedNotice } from '../shared/ui/notice.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import {
  AUDIT_FILTERS,
  type AuditedRequest,
  type AuditSearch,
  auditPath,
  byRequest,
  changedMembers,
} from './requests.ts';

/** How often the page is read anew while it is the newest one, ms: the audit is no topic. */
const READ_EVERY_MS = 10_000;
/** Records that a row shows at most. */
const SHOWN = 20;

interface AuditAnswer {
  records: AuditRecord[];
  next: { after_id: string } | null;
}

/** Who changed what, and why? */
export function AuditPage() {
  const search = useSearch({ from: '/audit' });
  const { data: me } = useMe();
  const refusal = readingRefusal(me);
  const path = auditPath(search);
  const read = useQuery({
    queryKey: ['audit', path],
    queryFn: ({ signal }) => callApi<AuditAnswer>(path, { signal }),
    placeholderData: (before) => before,
    enabled: refusal === null,
    refetchInterval: search.after_id === undefined ? READ_EVERY_MS : false,
  });
  return (
    <main aria-busy={(refusal === null && read.isPending) || undefined}>
      <title>Audit - Muster</title>
      <h1>Audit</h1>
      <DroppedNotice names={search.dropped} />
      {refusal !== null && <p>{refusal}</p>}
      {refusal === null && <Filters search={search} />}
      {read.isError && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.data && refusal === null && <Found answer={read.data} search={search} />}
      <p className="buttons">
        <CopyCommand name="Copy as CLI" text={cliOf(search)} />
        <CopyCommand name="Copy as curl" text={curlCommand('GET', `${apiBase()}${path}`)} />
      </p>
    </main>
  );
}

const FIELDS = [
  { name: 'actor', label: 'Who', hint: 'token/ci' },
  { name: 'kind', label: 'Kind', hint: 'component' },
  { name: 'name', label: 'Name', hint: 'n1' },
  { name: 'action', label: 'Action', hint: 'update' },
] as const;

function Filters({ search }: { search: AuditSearch }) {
  const navigate = useNavigate({ from: '/audit' });
  const id = useId();
  const [typed, setTyped] = useState(search);
  const [applied, setApplied] = useState(search);
  // The address changes by other ways too, as by the browser's back.
  if (auditPath(applied) !== auditPath(search)) {
    setApplied(search);
    setTyped(search);
  }
  const apply = (event: FormEvent) => {
    event.preventDefault();
    const filters = FIELDS.map(({ name }): [string, string | undefined] => [name, typed[name] || undefined]);
    void navigate({ search: { since: search.since, until: search.until, ...Object.fromEntries(filters) } });
  };
  return (
    <form className="filters" onSubmit={apply}>
      {FIELDS.map(({ name, label, hint }) => (
        <span key={name}>
          <label htmlFor={`${id}-${name}`}>{label}</label>{' '}
          <input
            id={`${id}-${name}`}
            placeholder={hint}
            spellCheck={false}
            autoComplete="off"
            value={typed[name] ?? ''}
            onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
          />
        </span>
      ))}
      <button type="submit">Apply</button>
    </form>
  );
}

function Found({ answer: { records, next }, search }: { answer: AuditAnswer; search: AuditSearch }) {
  const { dropped: _, after_id, ...filters } = search;
  if (records.length === 0) {
    return (
      <p>
        {Object.values(filters).some((value) => value !== undefined)
          ? 'No change matches the filter. '
          : 'Nothing is recorded. '}
        <Link to="/audit">All changes</Link>
      </p>
    );
  }
  return (
    <>
      <table aria-label="Audit" className="wide">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
            <th scope="col">Which</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {byRequest(records, next !== null).map((request) => (
            <Row key={request.id} request={request} />
          ))}
        </tbody>
      </table>
      <p className="buttons">
        {after_id !== undefined && (
          <Link to="/audit" search={filters}>
            Newest
          </Link>
        )}
        {next !== null && (
          <Link to="/audit" search={{ ...filters, after_id: String(next.after_id) }}>
            Older
          </Link>
        )}
      </p>
    </>
  );
}

function Row({ request: { time, actor, what, which, reason, via, records } }: { request: AuditedRequest }) {
  return (
    <tr>
      <th scope="row">
        <Moment at={time} />
      </th>
      <td>{actor === null ? 'not known' : shownText(actor)}</td>
      <td>
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
      </td>
      <td>{shownText(which)}</td>
      <td>{shownText(reason ?? '')}</td>
    </tr>
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

function cliOf(search: AuditSearch): string {
  const words = AUDIT_FILTERS.flatMap((name) => {
    const value = search[name];
    return value === undefined ? [] : [`--${name}=${shellWord(value)}`];
  });
  return ['./muster audit list', ...words].join(' ');
}
