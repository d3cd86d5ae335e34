import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Attention, AttentionItem } from '../../../domain/fleet/attention-schema.ts';
import { callApi } from '../shared/api-call.ts';
import { useLive } from '../shared/live/use-live.ts';
import { CopyCommand } from '../shared/ui/copy-command.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';

/** What needs a person, the worst first. */
export function NeedsAttention() {
  const read = useQuery({
    queryKey: ['fleet-attention'],
    queryFn: ({ signal }) => callApi<Attention>('/fleet/attention', { signal }),
  });
  useLive('attention', ['fleet-attention']);
  return (
    <section aria-label="Attention" aria-busy={read.isPending || undefined}>
      <h2>Needs attention</h2>
      {read.isError && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.data && <Items attention={read.data} />}
    </section>
  );
}

function Items({ attention: { items, more } }: { attention: Attention }) {
  if (items.length === 0) return <p>Nothing needs attention.</p>;
  return (
    <>
      <table aria-label="Needs attention" className="wide">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">Count</th>
            <th scope="col">Since</th>
            <th scope="col">Reason</th>
            <th scope="col">Fix</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <Item key={`${item.kind} ${item.what} ${item.reason}`} item={item} />
          ))}
        </tbody>
      </table>
      {more > 0 && <p>{more} more</p>}
    </>
  );
}

function Item({ item: { kind, what, count, since, reason, fix, failure, link } }: { item: AttentionItem }) {
  return (
    <tr>
      <th scope="row">
        <Way link={link} failure={failure} text={what} />
      </th>
      <td>
        {kind === 'failed_components' ? (
          <Link
            to="/components"
            search={{ status: 'failed', failure: failure ?? undefined }}
            aria-label={`Show ${count}`}
          >
            {count}
          </Link>
        ) : (
          count
        )}
      </td>
      <td>{since !== null && <Moment at={since} />}</td>
      <td>{shownText(reason)}</td>
      <td>
        {fix.action} <CopyCommand name="Copy as CLI" text={fix.command} />
      </td>
    </tr>
  );
}

/** Leads to what it is. */
function Way({ link: { page, name, id }, failure, text }: Pick<AttentionItem, 'link' | 'failure'> & { text: string }) {
  const shown = shownText(text);
  if (page === 'sessions' && name !== null) {
    return (
      <Link to="/sessions/$name" params={{ name }} search={id === null ? {} : { id }}>
        {shown}
      </Link>
    );
  }
  if (page === 'components') {
    return (
      <Link to="/components" search={{ status: 'failed', failure: failure ?? undefined }}>
        {shown}
      </Link>
    );
  }
  if (page === 'drift') {
    return (
      <Link to="/drift" search={{ status: 'drifted' }}>
        {shown}
      </Link>
    );
  }
  return <Link to={`/${page}`}>{shown}</Link>;
}
