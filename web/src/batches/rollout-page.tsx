import { Link, useSearch } from '@tanstack/react-router';
import type { Rollout } from '../../../domain/batches/rollout-schema.ts';
import { ListPage } from '../shared/list/list-page.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { RolloutDetails } from './rollout-details.tsx';
import { shareText } from './rollout-text.ts';
import { ROLLOUT_FILTERS } from './search.ts';

interface RolloutPageAnswer {
  rollouts: Rollout[];
  next: { after_id: number } | null;
}

/** How far changes of configurations have come, and why they have stopped. */
export function RolloutPage() {
  const { dropped, ...search } = useSearch({ from: '/rollouts' });
  const { configuration } = search;
  return (
    <ListPage<RolloutPageAnswer, Rollout>
      name="Rollouts"
      search={search}
      dropped={dropped}
      filters={ROLLOUT_FILTERS}
      api={{ path: '/rollouts' }}
      queryKey={['rollouts']}
      topic="rollouts"
      rows={({ rollouts }) => rollouts}
      keyOf={({ id }) => String(id)}
      columns={[
        {
          head: 'Rollout',
          cell: (rollout) => (
            <Link to="/rollouts" search={{ ...search, configuration: rollout.configuration }}>
              {shownText(rollout.configuration)}
            </Link>
          ),
        },
        { head: 'State', cell: ({ state, stage }) => (state === 'stopped' ? `stopped (${stage})` : state) },
        { head: 'Configured', cell: shareText },
        { head: 'In sessions', cell: ({ in_sessions }) => in_sessions },
        { head: 'Failed', cell: ({ failures }) => failures },
        { head: 'Reason', cell: ({ reason }) => (reason === null ? '' : shownText(reason)) },
        {
          head: 'Since',
          cell: ({ stopped_at, ended_at, created_at }) => <Moment at={stopped_at ?? ended_at ?? created_at} />,
        },
      ]}
      order="newest"
      empty={{
        narrowed: 'No rollout matches the filter.',
        all: 'All current rollouts',
        nothing: (
          <>
            There are no rollouts: a configuration with a rollout policy has one when its components are behind.{' '}
            <Link to="/configurations">Configurations</Link>
          </>
        ),
      }}
      command="./muster rollout list"
      above={configuration !== undefined && <RolloutDetails key={configuration} configuration={configuration} />}
    />
  );
}
