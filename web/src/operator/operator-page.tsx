import { Link, useSearch } from '@tanstack/react-router';
import type { OperatorResourceView } from '../../../domain/operator/view-schema.ts';
import { ListPage } from '../shared/list/list-page.tsx';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { Operators } from './operators.tsx';
import { nameOf } from './resource-text.ts';
import { RESOURCE_FILTERS } from './search.ts';

interface ResourcePageAnswer {
  resources: OperatorResourceView[];
  next: { after_id: string } | null;
}

/** What do my resources do? */
export function OperatorPage() {
  const { dropped, ...search } = useSearch({ from: '/operator' });
  return (
    <ListPage<ResourcePageAnswer, OperatorResourceView>
      name="Operator"
      search={search}
      dropped={dropped}
      filters={RESOURCE_FILTERS}
      api={{ path: '/operator/resources' }}
      queryKey={['operator']}
      topic="operator"
      rows={({ resources }) => resources}
      keyOf={({ id }) => id}
      columns={COLUMNS}
      order="names"
      empty={{
        narrowed: 'No custom resource matches the filter.',
        all: 'All custom resources',
        nothing: (
          <>
            No operator has seen a custom resource yet. The command runs the operator of a folder:{' '}
            <code>./muster operator run</code>
          </>
        ),
      }}
      command="./muster operator list"
      above={<Operators operator={typeof search.operator === 'string' ? search.operator : undefined} />}
    />
  );
}

const COLUMNS: readonly ListColumn<OperatorResourceView>[] = [
  {
    head: 'Resource',
    cell: (resource) => (
      <Link to="/operator/$id" params={{ id: resource.id }}>
        {shownText(`${resource.kind} ${nameOf(resource)}`)}
      </Link>
    ),
  },
  { head: 'Phase', cell: ({ phase }) => phase },
  { head: 'Reason', cell: ({ reason }) => shownText(reason ?? '') },
  {
    head: 'Next attempt',
    cell: ({ next_attempt_at: next }) => (next === null ? 'at its next change' : <Moment at={next} />),
  },
  { head: 'Failures in a row', cell: ({ failures_in_a_row }) => failures_in_a_row },
  { head: 'Operator', cell: ({ operator }) => shownText(operator) },
];
