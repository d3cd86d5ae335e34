import { Link, useSearch } from '@tanstack/react-router';
import type { DriftItem } from '../../../domain/components/drift-schema.ts';
import { ListPage } from '../shared/list/list-page.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { CheckActions } from './check-actions.tsx';
import { DriftDetails } from './drift-details.tsx';
import { changedText } from './drift-text.ts';
import { DRIFT_FILTERS } from './search.ts';

interface DriftPageAnswer {
  drift: DriftItem[];
  next: { after_id: string } | null;
}

/** What the last check found of each component. */
export function DriftPage() {
  const { dropped, ...search } = useSearch({ from: '/drift' });
  const { component } = search;
  return (
    <ListPage<DriftPageAnswer, DriftItem>
      name="Drift"
      search={search}
      dropped={dropped}
      filters={DRIFT_FILTERS}
      api={{ path: '/drift' }}
      queryKey={['drift']}
      topic="drift"
      rows={({ drift }) => drift}
      keyOf={({ id }) => id}
      columns={[
        {
          head: 'Component',
          cell: ({ id }) => (
            <Link to="/drift" search={{ ...search, component: id }}>
              {shownText(id)}
            </Link>
          ),
        },
        { head: 'Status', cell: ({ status }) => status },
        { head: 'Tasks that would change it', cell: changedText },
        { head: 'Configuration', cell: ({ configuration }) => shownText(configuration) },
        { head: 'Checked', cell: ({ checked_at }) => <Moment at={checked_at} /> },
      ]}
      order="names"
      empty={{
        narrowed: 'No component matches the filter.',
        all: 'All components',
        nothing: (
          <>
            No check has looked yet. <code>./muster drift check --all</code>
          </>
        ),
      }}
      command="./muster drift list"
      above={
        <>
          <CheckActions configuration={search.config_name ?? null} />
          {component !== undefined && <DriftDetails key={component} id={component} />}
        </>
      }
    />
  );
}
