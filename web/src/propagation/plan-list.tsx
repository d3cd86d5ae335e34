import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import type { PlanView } from '../../../domain/propagation/plan-view-schema.ts';
import type { StagedItemView } from '../../../domain/propagation/schema.ts';
import { callApi } from '../shared/api-call.ts';
import { ListPage } from '../shared/list/list-page.tsx';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { useLive } from '../shared/live/use-live.ts';
import { Moment } from '../shared/ui/moment.tsx';
import { Part, Rows } from '../shared/ui/part.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { countsText } from './plan-text.ts';
import { PLAN_FILTERS } from './search.ts';

/** Staged changes that are shown. */
const STAGED = 20;

interface PlanPageAnswer {
  plans: PlanView[];
  next: { after_id: string } | null;
}

/** What follows from what? */
export function PlanListPage() {
  const { dropped, ...search } = useSearch({ from: '/propagation' });
  return (
    <ListPage<PlanPageAnswer, PlanView>
      name="Propagation"
      search={search}
      dropped={dropped}
      filters={PLAN_FILTERS}
      api={{ path: '/propagation/plans' }}
      queryKey={['plans']}
      topic="plans"
      rows={({ plans }) => plans}
      keyOf={({ id }) => id}
      columns={COLUMNS}
      order="newest"
      empty={{
        narrowed: 'No plan matches the filter.',
        all: 'All plans',
        nothing: (
          <>
            There are no plans yet. The command makes a plan of what is staged: <code>./muster change process</code>
          </>
        ),
      }}
      command="./muster plan list"
      below={<Staged />}
    />
  );
}

const COLUMNS: readonly ListColumn<PlanView>[] = [
  {
    head: 'Plan',
    cell: ({ id, name }) => (
      <Link to="/propagation/$id" params={{ id }}>
        {shownText(`${name} ${id.slice(0, 8)}`)}
      </Link>
    ),
  },
  { head: 'State', cell: ({ state, wish }) => (wish === null ? state : `${state}, to ${wish}`) },
  {
    head: 'Ended',
    cell: ({ percent }) => (
      <>
        <progress aria-label="Nodes that have ended" max={100} value={percent} /> {percent} %
      </>
    ),
  },
  { head: 'Nodes', cell: ({ summary }) => countsText(summary) },
  { head: 'Runs', cell: ({ run_number }) => run_number },
  {
    head: 'Since',
    cell: ({ created_at, started_at, ended_at }) => <Moment at={ended_at ?? started_at ?? created_at} />,
  },
];

/** What differs from what was committed, and is in no plan that has ended well. */
function Staged() {
  const read = useQuery({
    queryKey: ['plans', 'staged'],
    queryFn: ({ signal }) =>
      callApi<{ changes: StagedItemView[]; next: object | null }>(`/propagation/changes/staged?limit=${STAGED}`, {
        signal,
      }),
  });
  useLive('plans', ['plans', 'staged']);
  return (
    <Part title="Staged changes" read={read}>
      {({ changes, next }) => (
        <>
          <Rows
            name="Staged changes"
            rows={changes}
            keyOf={({ uid }) => uid}
            columns={STAGED_COLUMNS}
            none="Nothing differs from what was committed, as far as it was staged."
          />
          {next !== null && (
            <p>
              and more: <code>./muster change list</code>
            </p>
          )}
        </>
      )}
    </Part>
  );
}

const STAGED_COLUMNS: readonly ListColumn<StagedItemView>[] = [
  { head: 'Action', cell: ({ log_action }) => shownText(log_action) },
  { head: 'State', cell: ({ state }) => state },
  { head: 'Differences', cell: ({ details }) => shownText(details.slice(0, 3).join('; ').slice(0, 300)) },
  {
    head: 'Plan',
    cell: ({ plan }) =>
      plan === null ? (
        'none'
      ) : (
        <Link to="/propagation/$id" params={{ id: plan }}>
          {shownText(plan.slice(0, 8))}
        </Link>
      ),
  },
  { head: 'Staged', cell: ({ staged_at }) => <Moment at={staged_at} /> },
];
