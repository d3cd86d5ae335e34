import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ScheduleNext, ScheduleRunView, ScheduleView } from '../../../domain/schedules/schedule-schema.ts';
import { useActingRefusal } from '../access/use-acting.ts';
import { callApi, Refusal, recordPath } from '../shared/api-call.ts';
import { shellWord } from '../shared/commands.ts';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { useLive } from '../shared/live/use-live.ts';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { Part, Rows } from '../shared/ui/part.tsx';
import { PostAction } from '../shared/ui/post-action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { ChangeSchedule } from './schedule-form.tsx';
import { actionText, resultText, runText } from './schedule-text.ts';

/** Times and runs that are shown. */
const [TIMES, RUNS] = [5, 20];
const TOPIC = 'schedules';

/** A schedule: its next times, its last runs, and what may be asked of it. */
export function ScheduleDetails({ name }: { name: string }) {
  const path = recordPath('schedules', name);
  const read = useQuery({
    queryKey: ['schedules', 'one', name],
    queryFn: ({ signal }) => callApi<ScheduleView>(path, { signal }),
  });
  useLive(TOPIC, ['schedules', 'one', name]);
  const isGone = read.error instanceof Refusal && read.error.status === 404;
  return (
    <section aria-label={`Schedule ${shownText(name)}`} aria-busy={read.isPending || undefined}>
      <h2>Schedule {shownText(name)}</h2>
      {isGone && (
        <p>
          There is no schedule {shownText(name)}: it was deleted, or there was none.{' '}
          <Link to="/audit" search={{ kind: 'schedule', name }}>
            Who deleted it
          </Link>
        </p>
      )}
      {read.isError && !isGone && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.data && !isGone && <Shown schedule={read.data} />}
    </section>
  );
}

function Shown({ schedule }: { schedule: ScheduleView }) {
  const { name, description, action, pause, jitter, catchup_window, updated_at, updated_by } = schedule;
  const path = recordPath('schedules', name);
  const next = useQuery({
    queryKey: ['schedules', 'next', name],
    queryFn: ({ signal }) => callApi<ScheduleNext>(`${path}/next?count=${TIMES}`, { signal }),
  });
  const runs = useQuery({
    queryKey: ['schedules', 'runs', name],
    queryFn: ({ signal }) => callApi<{ runs: ScheduleRunView[] }>(`${path}/runs?limit=${RUNS}`, { signal }),
  });
  useLive(TOPIC, ['schedules', 'next', name]);
  useLive(TOPIC, ['schedules', 'runs', name]);
  return (
    <>
      <dl>
        {description !== '' && (
          <>
            <dt>Description</dt>
            <dd>{shownText(description)}</dd>
          </>
        )}
        <dt>What</dt>
        <dd>{shownText(actionText(action))}</dd>
        {pause !== null && (
          <>
            <dt>Paused</dt>
            <dd>
              <Moment at={pause.at} />
              {pause.by !== null && ` by ${shownText(pause.by)}`}
              {pause.note !== '' && `: ${shownText(pause.note)}`}
            </dd>
          </>
        )}
        <dt>Late by at most</dt>
        <dd>
          {jitter} s by chance; a time that was missed is made up for within {catchup_window} s
        </dd>
        <dt>Written</dt>
        <dd>
          <Moment at={updated_at} />
          {updated_by !== null && ` by ${shownText(updated_by)}`}
        </dd>
      </dl>
      <Commands schedule={schedule} />
      <Part title="Next times" read={next}>
        {({ times, paused, skipped_overlap: skipped, missed }) => (
          <>
            <ol>
              {times.map((at) => (
                <li key={at}>
                  <Moment at={at} /> ({at})
                </li>
              ))}
            </ol>
            {paused && <p>It is paused: these times will pass.</p>}
            {skipped + missed > 0 && (
              <p>
                Left out so far: {skipped} while a run went on, {missed} while the engine was away.
              </p>
            )}
          </>
        )}
      </Part>
      <Part title="Runs" read={runs}>
        {({ runs: all }) => (
          <Rows name="Runs" columns={RUN_COLUMNS} rows={all} keyOf={({ id }) => id} none="It has not run yet." />
        )}
      </Part>
    </>
  );
}

const RUN_COLUMNS: readonly ListColumn<ScheduleRunView>[] = [
  { head: 'Time', cell: ({ scheduled_at }) => <Moment at={scheduled_at} /> },
  { head: 'State', cell: (run) => shownText(runText(run)) },
  {
    head: 'By',
    cell: ({ by_hand, requested_by }) => (by_hand ? shownText(requested_by ?? 'not known') : 'the clock'),
  },
  { head: 'Result', cell: (run) => shownText(resultText(run)) },
  { head: 'Ended', cell: ({ ended_at }) => (ended_at === null ? '' : <Moment at={ended_at} />) },
];

function Commands({ schedule }: { schedule: ScheduleView }) {
  const { name, paused } = schedule;
  const may = useActingRefusal();
  const path = recordPath('schedules', name);
  const word = shellWord(name);
  const shared = { record: null, changes: ['schedules'] };
  return (
    <div className="buttons">
      <PostAction
        {...shared}
        name="Pause"
        refusal={may ?? (paused ? 'It is paused' : null)}
        path={`${path}/pause`}
        body={{}}
        effect="Times that come are let pass. A run that goes on ends."
        done="It is paused."
        command={`./muster schedule pause ${word}`}
      />
      <PostAction
        {...shared}
        name="Resume"
        refusal={may ?? (paused ? null : 'It is not paused')}
        isTold={may !== null}
        path={`${path}/resume`}
        body={{}}
        effect="It goes on at its next time."
        done="It goes on."
        command={`./muster schedule resume ${word}`}
      />
      <PostAction
        {...shared}
        name="Trigger"
        refusal={may}
        isTold
        path={`${path}/trigger`}
        effect="A run begins now; while another one goes on it waits, unless the schedule lets them overlap."
        done="A run was asked for."
        command={`./muster schedule trigger ${word}`}
      />
      <ChangeSchedule schedule={schedule} />
      <PostAction
        {...shared}
        name="Delete"
        refusal={may}
        isTold
        method="DELETE"
        path={path}
        effect="It begins no run any more. What its runs have made stays."
        done="It is deleted."
        command={`./muster schedule delete ${word}`}
      />
    </div>
  );
}
