/** A schedule as a form has it: every member a text. */
import type { ComponentFilter, ConfigurationStatus } from '../../../domain/components/schema.ts';
import type { OverlapPolicy, ScheduleActionKind, ScheduleView } from '../../../domain/schedules/schedule-schema.ts';
import { apiCommand, shellWord } from '../shared/commands.ts';
import { changedNames, type FormField, type FormValues, numberOrText } from '../shared/form-values.ts';

const OVERLAPS: Readonly<Record<OverlapPolicy, true>> = {
  ...{ skip: true, buffer_one: true, allow_all: true, cancel_other: true },
};
const KINDS: Readonly<Record<ScheduleActionKind, true>> = {
  ...{ reconfigure: true, check: true, refresh: true, session: true },
};
const STATUSES: Readonly<Record<ConfigurationStatus, true>> = {
  ...{ configured: true, pending: true, failed: true, unconfigured: true },
};
const [ENABLED, DISABLED] = ['enabled', 'disabled'];

type Stored = Pick<
  ScheduleView,
  'name' | 'description' | 'cron' | 'time_zone' | 'jitter' | 'overlap' | 'catchup_window' | 'action'
>;

/** Returns the texts of a schedule; of a new one where there is none. */
export function scheduleValues(schedule: Stored | null): FormValues {
  const { reconfigure, check, refresh, session } = schedule?.action ?? {};
  const { ids, status, config_name, tags, enabled } = reconfigure?.filter ?? check?.filter ?? {};
  return {
    name: schedule?.name ?? '',
    description: schedule?.description ?? '',
    cron: schedule?.cron ?? '',
    time_zone: schedule?.time_zone ?? 'UTC',
    jitter: String(schedule?.jitter ?? 0),
    overlap: schedule?.overlap ?? 'skip',
    catchup_window: String(schedule?.catchup_window ?? 600),
    paused: '',
    what: session ? 'session' : refresh ? 'refresh' : check ? 'check' : 'reconfigure',
    ids: ids ?? '',
    status: status ?? '',
    config_name: config_name ?? '',
    tags: tags ?? '',
    enabled: enabled === undefined ? '' : enabled ? ENABLED : DISABLED,
    desired_config: reconfigure?.desired_config ?? '',
    drifted: check?.reconfigure ? 'true' : '',
    configurations: refresh?.configurations?.join(', ') ?? '',
    configuration_name: session?.configuration_name ?? '',
    ansible_limit: session?.ansible_limit ?? '',
    name_prefix: session?.name_prefix ?? '',
  };
}

/** Members of the plain part, and the flags that the command line has for them. */
const PLAIN = {
  cron: '--cron',
  time_zone: '--time-zone',
  jitter: '--jitter',
  overlap: '--overlap',
  catchup_window: '--catch-up',
  description: '--description',
} as const;
const NUMBERS: readonly string[] = ['jitter', 'catchup_window'];

/** Returns the fields of a form; a schedule that is there has its name, and is paused by a button of its own. */
export function scheduleFields({ what = '' }: FormValues, isNew: boolean): FormField[] {
  return [
    ...(isNew ? [{ name: 'name', label: 'Name', at: 'name', hint: 'lower-case letters, digits, hyphens' }] : []),
    {
      name: 'cron',
      label: 'When',
      at: 'cron',
      hint: 'minute, hour, day of month, month, day of week: 0 3 * * mon-fri',
    },
    { name: 'time_zone', label: 'Time zone', at: 'time_zone', hint: 'such as Europe/Berlin' },
    { name: 'what', label: 'What', at: 'action', words: Object.keys(KINDS) },
    ...actionFields(what),
    { name: 'overlap', label: 'When the run before goes on', at: 'overlap', words: Object.keys(OVERLAPS) },
    { name: 'jitter', label: 'Late by at most (seconds)', at: 'jitter' },
    {
      ...{ name: 'catchup_window', label: 'Made up for within (seconds)', at: 'catchup_window' },
      hint: 'where a time was missed',
    },
    { name: 'description', label: 'Description', at: 'description' },
    ...(isNew ? [{ name: 'paused', label: 'Paused at first', at: 'paused', kind: 'switch' as const }] : []),
  ];
}

function actionFields(what: string): FormField[] {
  if (what === 'refresh') {
    const hint = 'names with commas; empty: all that have branches';
    return [{ name: 'configurations', label: 'Configurations', at: 'action.refresh.configurations', hint }];
  }
  if (what === 'session') {
    const at = 'action.session';
    return [
      { name: 'configuration_name', label: 'Configuration', at: `${at}.configuration_name` },
      { name: 'ansible_limit', label: 'Limit', at: `${at}.ansible_limit`, hint: 'hosts; empty: all of its inventory' },
      { name: 'name_prefix', label: 'Session names begin with', at: `${at}.name_prefix` },
    ];
  }
  const at = `action.${what}.filter`;
  const more: FormField =
    what === 'check'
      ? { name: 'drifted', label: 'Reconfigure what drifted', at: 'action.check.reconfigure', kind: 'switch' }
      : {
          ...{ name: 'desired_config', label: 'Set desired configuration', at: 'action.reconfigure.desired_config' },
          hint: 'empty: it stays',
        };
  return [
    { name: 'ids', label: 'Components', at: `${at}.ids`, hint: 'ids with commas; empty: all' },
    { name: 'status', label: 'Status', at: `${at}.status`, words: ['', ...Object.keys(STATUSES)] },
    { name: 'config_name', label: 'Desired configuration', at: `${at}.config_name` },
    { name: 'tags', label: 'Tags', at: `${at}.tags`, hint: 'name=value with commas' },
    { name: 'enabled', label: 'Enabled', at: `${at}.enabled`, words: ['', ENABLED, DISABLED] },
    more,
  ];
}

/** Returns the members that a form writes of a new schedule; null while it has no name or no times. */
export function newSchedule(values: FormValues): object | null {
  const { name = '', cron = '' } = values;
  if (name.trim() === '' || cron.trim() === '') return null;
  const { description: _, ...plain } = plainOf(values, Object.keys(PLAIN));
  return {
    name: name.trim(),
    ...(values.description === '' ? {} : { description: values.description }),
    ...plain,
    action: actionOf(values, {}),
    ...(values.paused === 'true' ? { paused: true } : {}),
  };
}

/** Returns the members that a form changes; null where it changes none. What the form has no field for stays. */
export function schedulePatch(values: FormValues, begun: FormValues, action: ScheduleView['action']): object | null {
  const changed = changedNames(values, begun);
  if (changed.size === 0) return null;
  const plain = Object.keys(PLAIN).filter((name) => changed.delete(name));
  return { ...plainOf(values, plain), ...(changed.size > 0 ? { action: actionOf(values, action) } : {}) };
}

function plainOf(values: FormValues, names: readonly string[]): Record<string, string | number> {
  return Object.fromEntries(
    names.map((name) => [name, NUMBERS.includes(name) ? numberOrText(values[name] ?? '') : (values[name] ?? '')]),
  );
}

const given = (text = ''): string | undefined => text.trim() || undefined;

/** Returns the action; of a session that is there all that the form does not show stays. */
function actionOf(values: FormValues, { session }: ScheduleView['action']): object {
  const { what } = values;
  if (what === 'session') {
    const { name_prefix: _prefix, ansible_limit: _limit, ...kept } = session ?? {};
    const [ansible_limit, name_prefix] = [given(values.ansible_limit), given(values.name_prefix)];
    return {
      session: withoutAbsent({
        ...kept,
        configuration_name: values.configuration_name?.trim() ?? '',
        ...{ ansible_limit, name_prefix },
      }),
    };
  }
  if (what === 'refresh') {
    const names = (values.configurations ?? '').split(',').map((name) => name.trim());
    const configurations = names.filter((name) => name !== '');
    return { refresh: configurations.length === 0 ? {} : { configurations } };
  }
  const filter = filterOf(values);
  if (what === 'check') return { check: { filter, ...(values.drifted === 'true' ? { reconfigure: true } : {}) } };
  return { reconfigure: withoutAbsent({ filter, desired_config: given(values.desired_config) }) };
}

/** Returns which components a form means. */
export function filterOf(values: FormValues): ComponentFilter {
  return withoutAbsent({
    ids: given(values.ids),
    status: given(values.status) as ConfigurationStatus | undefined,
    config_name: given(values.config_name),
    tags: given(values.tags),
    enabled: values.enabled === '' ? undefined : values.enabled === ENABLED,
  });
}

const withoutAbsent = <Shape extends object>(shape: Shape): Shape =>
  Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined)) as Shape;

/** Returns the command that makes the schedule. */
export function createCommand(values: FormValues): string {
  const plain = Object.keys(PLAIN).filter((name) => name !== 'description' || values.description !== '');
  const words = [...plainFlags(values, plain), ...actionFlags(values), ...(values.paused ? ['--paused'] : [])];
  return [`./muster schedule create ${shellWord(values.name?.trim() || 'NAME')}`, ...words].join(' ');
}

/** Returns the command that changes it; another action is sent as the page sends it, since flags say only a part of some. */
export function updateCommand(values: FormValues, begun: FormValues, action: ScheduleView['action']): string {
  const name = begun.name ?? '';
  const body = schedulePatch(values, begun, action);
  if (body !== null && 'action' in body) {
    return apiCommand('PATCH', `/api/v1/schedules/${encodeURIComponent(name)}`, body);
  }
  return [`./muster schedule update ${shellWord(name)}`, ...plainFlags(values, Object.keys(body ?? {}))].join(' ');
}

const plainFlags = (values: FormValues, names: readonly string[]): string[] =>
  names.map((name) => flag(PLAIN[name as keyof typeof PLAIN], values[name] ?? ''));
const flag = (name: string, text: string): string => `${name}=${text === '' ? "''" : shellWord(text)}`;

function actionFlags(values: FormValues): string[] {
  const some = (pairs: readonly (readonly [name: string, text: string | undefined])[]) =>
    pairs.flatMap(([name, text]) => (given(text) === undefined ? [] : [flag(name, text?.trim() ?? '')]));
  const { what } = values;
  if (what === 'session') {
    const session = `--session=${shellWord(given(values.configuration_name) ?? 'NAME')}`;
    return [
      session,
      ...some([
        ['--limit', values.ansible_limit],
        ['--prefix', values.name_prefix],
      ]),
    ];
  }
  const list = (text = '') => text.split(',').map((word) => word.trim());
  if (what === 'refresh') {
    return ['--refresh', ...list(values.configurations).filter((name) => name !== '')].map(shellWord);
  }
  return [
    `--${what}`,
    ...some([
      ['--ids', values.ids],
      ['--status', values.status],
      ['--config', values.config_name],
    ]),
    ...list(values.tags).flatMap((tag) => (tag === '' ? [] : [flag('--tag', tag)])),
    ...(values.enabled === '' ? [] : [values.enabled === ENABLED ? '--enabled' : '--no-enabled']),
    ...(what === 'check'
      ? values.drifted === 'true'
        ? ['--reconfigure-drifted']
        : []
      : some([['--desired', values.desired_config]])),
  ];
}
