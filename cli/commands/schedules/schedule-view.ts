import type {
  ScheduleAction,
  ScheduleRunResult,
  ScheduleRunView,
  ScheduleView,
} from '../../../domain/schedules/schedule-schema.ts';
import { cell, type View } from '../../output/columns.ts';
import { fieldList } from '../../output/table.ts';

export const scheduleView: View<ScheduleView> = {
  noun: 'schedules',
  name: (schedule) => schedule.name,
  columns: [
    { title: 'NAME', value: (schedule) => schedule.name },
    { title: 'CRON', value: (schedule) => schedule.cron },
    { title: 'ZONE', value: (schedule) => schedule.time_zone },
    { title: 'ACTION', value: (schedule) => Object.keys(schedule.action).join() },
    { title: 'STATE', value: stateOf },
    {
      title: 'LAST RUN',
      value: ({ last_run }) => (last_run === null ? '' : `${last_run.state} ${last_run.scheduled_at}`),
    },
    { title: 'OVERLAP', value: (schedule) => schedule.overlap, wide: true },
    { title: 'JITTER', value: (schedule) => `${schedule.jitter}s`, wide: true },
    { title: 'DESCRIPTION', value: (schedule) => schedule.description, wide: true },
  ],
};

export const scheduleRunView: View<ScheduleRunView> = {
  noun: 'runs',
  name: (run) => run.id,
  columns: [
    { title: 'TIME', value: (run) => run.scheduled_at },
    { title: 'STATE', value: (run) => run.state },
    { title: 'BY', value: (run) => (run.by_hand ? (run.requested_by ?? 'hand') : 'clock') },
    { title: 'ENDED', value: (run) => cell(run.ended_at) },
    { title: 'RESULT', value: ({ result }) => resultOf(result) },
    { title: 'ERROR', value: ({ error }) => (error === null ? '' : `${error.code}: ${error.detail}`) },
    { title: 'ID', value: (run) => run.id, wide: true },
  ],
};

function stateOf({ paused, synced }: ScheduleView): string {
  if (!synced) return 'not synced';
  return paused ? 'paused' : 'active';
}

function resultOf(result: ScheduleRunResult | null): string {
  if (result?.sessions) return result.sessions.join(',');
  if (result?.components) return `${result.components.count} components`;
  if (!result?.configurations) return '';
  const { changed, unchanged, failed } = result.configurations;
  return `${changed.length} changed, ${unchanged} unchanged, ${failed.length} failed`;
}

const actionText = (action: ScheduleAction): string =>
  Object.entries(action)
    .map(([kind, words]) => `${kind} ${JSON.stringify(words)}`)
    .join();

export const scheduleRunDetails = (run: ScheduleRunView): string =>
  fieldList(scheduleRunView.columns.map((column) => [column.title.toLowerCase(), column.value(run)]));

/** A schedule, its next times (none while the engine does not say them) and its last run. */
export function scheduleDetails(schedule: ScheduleView, times: string[]): string {
  const { pause, last_run: last } = schedule;
  return fieldList([
    ['name', schedule.name],
    ['description', schedule.description],
    ['cron', `${schedule.cron} (${schedule.time_zone})`],
    ['jitter', schedule.jitter === 0 ? '' : `${schedule.jitter} s`],
    ['overlap', schedule.overlap],
    ['catch-up', `${schedule.catchup_window} s`],
    ['action', actionText(schedule.action)],
    ['state', stateOf(schedule)],
    ['paused', pause === null ? '' : `since ${pause.at}${pause.by ? ` by ${pause.by}` : ''}: ${pause.note}`],
    ['not synced', schedule.synced ? '' : cell(schedule.sync_error)],
    ['next', times.slice(0, 3).join(', ')],
    ['last run', last === null ? '' : `${last.scheduled_at} ${last.state} ${resultOf(last.result)}`.trim()],
    ['error', last?.error ? `${last.error.code}: ${last.error.detail}` : ''],
    ['changed', `${schedule.updated_at}${schedule.updated_by ? ` by ${schedule.updated_by}` : ''}`],
  ]);
}
