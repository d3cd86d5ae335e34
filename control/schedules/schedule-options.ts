/** A schedule of ours in Temporal's words. */
import type { ScheduleDescription, ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import { sealFor } from '../../domain/engine/seal.ts';
import { MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { type CronCalendar, type CronRange, parseCron } from '../../domain/schedules/cron.ts';
import { engineIdOf } from '../../domain/schedules/schedule-naming.ts';
import type { OverlapPolicy } from '../../domain/schedules/schedule-schema.ts';
import type { EngineSchedule } from './schedule-port.ts';

/** A run that follows a session may last as long as the session; longer ones are lost. */
const RUN_TIMEOUT = '31d';

const OVERLAP = {
  skip: 'SKIP',
  buffer_one: 'BUFFER_ONE',
  allow_all: 'ALLOW_ALL',
  cancel_other: 'CANCEL_OTHER',
} as const satisfies Record<OverlapPolicy, ScheduleOverlapPolicy>;

const MONTHS = [
  ...['JANUARY', 'FEBRUARY', 'MARCH', 'APRIL', 'MAY', 'JUNE'],
  ...['JULY', 'AUGUST', 'SEPTEMBER', 'OCTOBER', 'NOVEMBER', 'DECEMBER'],
] as const;
const DAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'] as const;

const named = <Word>(ranges: CronRange[], words: readonly Word[], first: number) =>
  ranges.map(({ start, end, step }) => ({
    start: words[start - first] as Word,
    end: words[end - first] as Word,
    step,
  }));

const calendarOf = ({ minute, hour, dayOfMonth, month, dayOfWeek }: CronCalendar) => ({
  second: [{ start: 0, end: 0, step: 1 }],
  minute,
  hour,
  dayOfMonth,
  month: named(month, MONTHS, 1),
  year: [],
  dayOfWeek: named(dayOfWeek, DAYS, 0),
  comment: '',
});

/** Everything that Temporal is told of a schedule; every policy is said. */
export function scheduleOptions({ id, name, record, paused, pause_note, paused_by }: EngineSchedule) {
  const cron = parseCron(record.cron);
  if ('mistake' in cron) throw new Error(`schedule ${name}: ${cron.mistake}`);
  return {
    scheduleId: engineIdOf(name),
    spec: {
      calendars: cron.calendars.map(calendarOf),
      timezone: record.time_zone,
      jitter: record.jitter * 1000,
    },
    policies: {
      overlap: OVERLAP[record.overlap],
      catchupWindow: record.catchup_window * 1000,
      pauseOnFailure: false,
    },
    action: {
      type: 'startWorkflow',
      workflowType: WORKFLOWS.scheduleRun,
      workflowId: engineIdOf(name),
      taskQueue: MAIN_QUEUE,
      args: [{ scheduleId: id }, sealFor('schedule', engineIdOf(name))] as const,
      workflowExecutionTimeout: RUN_TIMEOUT,
      staticSummary: `${Object.keys(record.action)[0]} of schedule ${name}`,
    },
    state: { paused, note: paused ? `paused by ${paused_by ?? 'nobody known'}: ${pause_note}` : '' },
  } satisfies ScheduleOptions;
}

/** Whether Temporal has the schedule as it is wanted. */
export function isAsWanted(wanted: ReturnType<typeof scheduleOptions>, found: ScheduleDescription): boolean {
  const { spec, policies, action, state } = wanted;
  const mine = [spec.calendars, spec.timezone, spec.jitter, policies, state.paused, state.note];
  const theirs = [
    found.spec.calendars,
    found.spec.timezone ?? '',
    found.spec.jitter ?? 0,
    { ...found.policies },
    found.state.paused,
    found.state.note ?? '',
  ];
  const sameAction =
    action.workflowType === found.action.workflowType &&
    action.workflowId === found.action.workflowId &&
    action.taskQueue === found.action.taskQueue &&
    sameValue(action.args, found.action.args ?? []);
  const others = [found.spec.intervals, found.spec.skip].every((list) => (list ?? []).length === 0);
  return sameAction && others && sameValue(mine, theirs);
}

/** Equality of plain data whatever the order of members. */
function sameValue(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const [a, b] = [Object.entries(one), Object.entries(other)];
  return a.length === b.length && a.every(([key, value]) => sameValue(value, (other as Record<string, unknown>)[key]));
}
