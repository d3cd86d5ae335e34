import { Link, useSearch } from '@tanstack/react-router';
import type { ScheduleView } from '../../../domain/schedules/schedule-schema.ts';
import { ListPage } from '../shared/list/list-page.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { ScheduleDetails } from './schedule-details.tsx';
import { NewSchedule } from './schedule-form.tsx';
import { actionText, runText } from './schedule-text.ts';

interface SchedulePageAnswer {
  schedules: ScheduleView[];
  next: { after_id: string } | null;
}

/** What runs by itself? */
export function SchedulePage() {
  const { dropped, ...search } = useSearch({ from: '/schedules' });
  return (
    <ListPage<SchedulePageAnswer, ScheduleView>
      name="Schedules"
      search={search}
      dropped={dropped}
      filters={[]}
      api={{ path: '/schedules' }}
      queryKey={['schedules']}
      topic="schedules"
      rows={({ schedules }) => schedules}
      keyOf={({ id }) => id}
      columns={[
        {
          head: 'Schedule',
          cell: ({ name }) => (
            <Link to="/schedules" search={{ ...search, shown: name }}>
              {shownText(name)}
            </Link>
          ),
        },
        { head: 'When', cell: ({ cron, time_zone }) => shownText(`${cron} ${time_zone}`) },
        { head: 'What', cell: ({ action }) => shownText(actionText(action)) },
        {
          head: 'State',
          cell: ({ paused, pause, synced, sync_error }) =>
            paused
              ? shownText(['paused', pause?.note].filter(Boolean).join(': '))
              : synced
                ? 'active'
                : shownText(`not with the engine yet: ${sync_error ?? ''}`),
        },
        { head: 'Last run', cell: ({ last_run }) => (last_run === null ? 'none' : shownText(runText(last_run))) },
        {
          head: 'Ended',
          cell: ({ last_run }) =>
            last_run !== null && last_run.ended_at !== null ? <Moment at={last_run.ended_at} /> : '',
        },
        { head: 'Overlap', cell: ({ overlap }) => overlap },
      ]}
      order="names"
      empty={{
        narrowed: 'There are no more schedules.',
        all: 'All schedules',
        nothing: (
          <>
            There are no schedules yet. <code>./muster schedule create NAME --cron "0 3 * * *"</code>
          </>
        ),
      }}
      command="./muster schedule list"
      above={
        <>
          <NewSchedule />
          {search.shown !== undefined && <ScheduleDetails key={search.shown} name={search.shown} />}
        </>
      }
    />
  );
}
