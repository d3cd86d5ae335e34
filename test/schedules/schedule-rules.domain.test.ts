import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  engineIdOf,
  nameOfEngineId,
  SESSION_PREFIX_MAX,
  scheduledSessionName,
} from '../../domain/schedules/schedule-naming.ts';
import {
  ScheduleBodySchema,
  ScheduleCreateSchema,
  ScheduleNameSchema,
  SchedulePatchSchema,
} from '../../domain/schedules/schedule-schema.ts';
import { isSessionName } from '../../domain/sessions/naming.ts';

const TIME = new Date('2026-11-22T03:00:00Z');
const ID = '1a2b3c4d-0000-4000-8000-000000000000';
const action = { refresh: {} };
const body = { cron: '0 3 * * *', action };

/** Path and words of the first mistake. */
function mistakeOf(value: unknown): string {
  const { error } = ScheduleBodySchema.safeParse(value);
  const issue = error?.issues[0];
  return issue === undefined ? '' : `${issue.path.join('.')}: ${issue.message}`;
}

describe('the session of a run', () => {
  test.each([
    [undefined, 'nightly', 'nightly-20261122030000-1a2b'],
    ['night', 'nightly', 'night-20261122030000-1a2b'],
    [undefined, 'a-name-that-is-far-too-long-for-a-session', 'a-name-that-is-far-too-lo-20261122030000-1a2b'],
    [undefined, 'a-name-that-is-far-too-l-or', 'a-name-that-is-far-too-l-20261122030000-1a2b'],
  ])('prefix %s of schedule %s: %s', (prefix, name, session) => {
    expect(scheduledSessionName({ id: ID, name }, prefix, TIME)).toBe(session);
  });

  test('has a name that a session may have, whatever the schedule is called', () => {
    const names = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,58}[a-z0-9])?$/);
    const times = fc.date({ min: new Date('2000-01-01'), max: new Date('2199-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(names, times, fc.uuid(), (name, time, id) => {
        fc.pre(ScheduleNameSchema.safeParse(name).success);
        expect(isSessionName(scheduledSessionName({ id, name }, undefined, time))).toBe(true);
        if (name.length > SESSION_PREFIX_MAX) return;
        expect(isSessionName(scheduledSessionName({ id, name: 'x' }, name, time))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('differs by the time and by the schedule', () => {
    const name = (id: string, time: string) => scheduledSessionName({ id, name: 'n' }, undefined, new Date(time));
    expect(name(ID, '2026-11-22T03:00:00Z')).not.toBe(name(ID, '2026-11-22T03:00:01Z'));
    expect(name(ID, '2026-11-22T03:00:00Z')).not.toBe(name(`9${ID.slice(1)}`, '2026-11-22T03:00:00Z'));
  });
});

test('the id in the engine says which schedule it is', () => {
  expect(engineIdOf('nightly')).toBe('schedule/nightly');
  expect(nameOfEngineId('schedule/nightly')).toBe('nightly');
  expect(nameOfEngineId('muster-sweep')).toBeNull();
});

describe('a schedule', () => {
  test('needs a time and an action only', () => {
    expect(ScheduleBodySchema.parse(body)).toEqual({
      description: '',
      cron: '0 3 * * *',
      time_zone: 'UTC',
      jitter: 0,
      overlap: 'skip',
      catchup_window: 600,
      action,
    });
    expect(ScheduleCreateSchema.parse({ ...body, name: 'n' })).toMatchObject({ name: 'n', paused: false });
  });

  test('is changed in the given members only', () => {
    expect(SchedulePatchSchema.parse({})).toEqual({});
    expect(SchedulePatchSchema.parse({ jitter: 5 })).toEqual({ jitter: 5 });
  });

  test.each<[unknown, string]>([
    [{ cron: '0 3 * * *' }, 'action: '],
    [{ action }, 'cron: '],
    [{ ...body, cron: '0 24 * * *' }, 'cron: 24 is no hour'],
    [{ ...body, time_zone: 'Mars/Phobos' }, 'time_zone: is no time zone'],
    [{ ...body, jitter: -1 }, 'jitter: '],
    [{ ...body, jitter: 86_401 }, 'jitter: '],
    [{ ...body, catchup_window: 9 }, 'catchup_window: '],
    [{ ...body, overlap: 'terminate_other' }, 'overlap: '],
    [{ ...body, name: 'n' }, ': Unrecognized key'],
    [{ ...body, timezone: 'UTC' }, ': Unrecognized key'],
    [{ ...body, action: {} }, 'action: must have exactly one of reconfigure, refresh, session, check'],
    [{ ...body, action: { refresh: {}, reconfigure: { filter: {} } } }, 'action: must have exactly one of'],
    [{ ...body, action: { reboot: {} } }, 'action: Unrecognized key'],
    [{ ...body, action: { reconfigure: {} } }, 'action.reconfigure.filter: '],
    [{ ...body, action: { reconfigure: { filter: { role: 'x' } } } }, 'action.reconfigure.filter: Unrecognized key'],
    [
      { ...body, action: { reconfigure: { filter: { tags: 'role' } } } },
      "action.reconfigure.filter.tags: 'role' in tags",
    ],
    [{ ...body, action: { reconfigure: { filter: { status: 'broken' } } } }, 'action.reconfigure.filter.status: '],
    [{ ...body, action: { reconfigure: { filter: { enabled: 'yes' } } } }, 'action.reconfigure.filter.enabled: '],
    [{ ...body, action: { reconfigure: { filter: {}, desired_config: '' } } }, 'action.reconfigure.desired_config: '],
    [{ ...body, action: { check: { filter: { tags: 'a=b=c' } } } }, "action.check.filter.tags: 'a=b=c' in tags"],
    [{ ...body, action: { refresh: { configurations: [] } } }, 'action.refresh.configurations: '],
    [{ ...body, action: { refresh: { names: [] } } }, 'action.refresh: Unrecognized key'],
    [{ ...body, action: { session: {} } }, 'action.session.configuration_name: '],
    [{ ...body, action: { session: { configuration_name: 'c', name: 'x' } } }, 'action.session: Unrecognized key'],
    [
      { ...body, action: { session: { configuration_name: 'c', name_prefix: 'Night' } } },
      'action.session.name_prefix: must be a lower-case DNS name',
    ],
    [
      { ...body, action: { session: { configuration_name: 'c', name_prefix: 'a'.repeat(26) } } },
      'action.session.name_pre',
    ],
    [
      { ...body, action: { session: { configuration_name: 'c', ansible_limit: 'a,@/etc/passwd' } } },
      'action.session.ansible_limit: ansible_limit must not name a file',
    ],
    [
      { ...body, action: { session: { configuration_name: 'c', ansible_passthrough: '--become' } } },
      'action.session.ansible_passthrough: ',
    ],
    [
      { ...body, action: { session: { configuration_name: 'c', target: { definition: 'spec' } } } },
      'action.session.target.groups: ',
    ],
  ])('%j is refused at its field', (value, mistake) => {
    expect(mistakeOf(value)).toContain(mistake);
    expect(mistakeOf(value).startsWith(mistake.split(':')[0] ?? '')).toBe(true);
  });

  test.each([
    { reconfigure: { filter: {} } },
    { reconfigure: { filter: { tags: 'role=web', status: 'failed', enabled: true }, desired_config: 'c' } },
    { refresh: { configurations: ['a', 'b'] } },
    {
      session: {
        configuration_name: 'c',
        ansible_limit: 'a,b',
        tags: { why: 'weekly' },
        target: { definition: 'repo' },
      },
    },
    { check: { filter: { ids: 'a,b' }, reconfigure: true } },
  ])('may do %j', (wanted) => {
    expect(ScheduleBodySchema.parse({ ...body, action: wanted }).action).toEqual(wanted);
  });
});
