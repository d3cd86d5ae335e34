import { describe, expect, test } from '@jest/globals';
import { checkBody } from '../../cli/commands/schedules/drift-commands.ts';
import { generatedName, type RunSessionOptions, sessionBody } from '../../cli/commands/sessions/run-session.ts';
import { failureOfAnswer } from '../../cli/failure.ts';
import { moment } from '../../cli/input/moment.ts';
import { group, integer, pair, seconds, tagFilter } from '../../cli/input/pairs.ts';
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';
import { SessionCreateSchema } from '../../domain/sessions/schema.ts';

const options = (over: Partial<RunSessionOptions> = {}): RunSessionOptions => ({
  configuration: 'web',
  verbose: 0,
  output: 'table',
  ...over,
});

describe('the body of a new session', () => {
  test('holds only what was asked for', () => {
    expect(sessionBody('s', options())).toEqual({ name: 's', configuration_name: 'web' });
    const images = { target: 'image' as const, group: [{ name: 'g', members: ['i'] }] };
    expect(sessionBody('s', options(images)).target).toEqual({ definition: 'image', groups: images.group });
    expect(sessionBody('s', options({ ...images, imageMap: { i: 'n' } })).target).toEqual({
      definition: 'image',
      groups: images.group,
      image_map: [{ source_id: 'i', result_name: 'n' }],
    });
    expect(sessionBody('s', options({ check: true })).muster).toEqual({ check: true });
    expect(sessionBody('s', options({ check: true, reconfigure: true })).muster).toEqual({
      check: true,
      reconfigure: true,
    });
  });

  test('carries every option under its name on the wire', () => {
    const body = sessionBody(
      's',
      options({
        limit: 'web*,!web3',
        layers: '0,2',
        config: 'my-cfg',
        verbose: 3,
        tag: { a: 'b=c' },
        target: 'spec',
        group: [{ name: 'web', members: ['w1', 'w2'] }],
        passthrough: "-e 'x=1 2'",
        debugOnFailure: true,
      }),
    );
    expect(body).toEqual({
      name: 's',
      configuration_name: 'web',
      configuration_limit: '0,2',
      ansible_limit: 'web*,!web3',
      ansible_config: 'my-cfg',
      ansible_verbosity: 3,
      ansible_passthrough: "-e 'x=1 2'",
      target: { definition: 'spec', groups: [{ name: 'web', members: ['w1', 'w2'] }] },
      tags: { a: 'b=c' },
      debug_on_failure: true,
    });
    expect(SessionCreateSchema.safeParse(body).success).toBe(true);
  });

  test('a name of a result is that of an image that is worked on', () => {
    const id = '0a1b2c3d-0000-4000-8000-00000000000a';
    const body = (imageMap: Record<string, string>) =>
      sessionBody('s', options({ target: 'image', group: [{ name: 'g', members: [id] }], imageMap }));
    expect(body({ [id.toUpperCase()]: 'n' }).target?.image_map).toHaveLength(1);
    expect(() => body({ other: 'n' })).toThrow('no --group has this image');
    expect(() => body({ [id]: '' })).toThrow('says no name');
  });

  test('a spec target without groups, and groups without one, are mistakes', () => {
    expect(() => sessionBody('s', options({ reconfigure: true }))).toThrow('--check');
    expect(() => sessionBody('s', options({ target: 'spec' }))).toThrow('needs at least one --group');
    expect(() => sessionBody('s', options({ group: [{ name: 'g', members: ['h'] }] }))).toThrow('--target spec');
    expect(() => sessionBody('s', options({ target: 'image' }))).toThrow('--group name=image,image');
    expect(() => sessionBody('s', options({ imageMap: { i: 'n' } }))).toThrow('--image-map belongs to --target image');
  });

  test.each([
    ['web', 'web-0a1b2c3d'],
    ['Web Servers_2', 'web-servers-2-0a1b2c3d'],
    ['---', 'session-0a1b2c3d'],
    ['x'.repeat(60), `${'x'.repeat(36)}-0a1b2c3d`],
    [`${'x'.repeat(35)}.y`, `${'x'.repeat(35)}-0a1b2c3d`],
  ])('a name is made from configuration %s', (configuration, name) => {
    expect(generatedName(configuration, '0a1b2c3d')).toBe(name);
    expect(SessionCreateSchema.safeParse({ name, configuration_name: 'c' }).success).toBe(true);
  });
});

describe('words on the command line', () => {
  test('tags are collected, and only the first = divides', () => {
    expect(pair('b=c=d', { a: '1' })).toEqual({ a: '1', b: 'c=d' });
    expect(tagFilter({ a: '1', b: '2' })).toBe('a=1,b=2');
    expect(tagFilter(undefined)).toBeUndefined();
  });

  test('groups are collected', () => {
    expect(group('db=d1', [{ name: 'web', members: ['w1'] }])).toEqual([
      { name: 'web', members: ['w1'] },
      { name: 'db', members: ['d1'] },
    ]);
  });

  test.each([
    ['a tag without =', () => pair('a')],
    ['a tag without name', () => pair('=a')],
    ['a group without members', () => group('web=')],
    ['a group without name', () => group('=w1')],
    ['a number that is none', () => integer(1)('1e3')],
    ['a number that is too small', () => integer(1)('0')],
    ['no time', () => seconds('0')],
    ['a time with a unit', () => seconds('5s')],
  ])('%s is refused', (_name, read) => {
    expect(read).toThrow(/^(write it as|must be)/);
  });
});

describe('exit statuses', () => {
  test.each(Object.keys(ERRORS) as ErrorCode[])('a problem %s ends with the status of the catalogue', (code) => {
    const { status, title, exit } = ERRORS[code];
    const failure = failureOfAnswer(status, { type: 'about:blank', title, status, detail: 'so it is', code });
    expect([failure.code, failure.message, failure.exit]).toEqual([code, 'so it is', exit]);
  });

  test.each([
    [400, 2],
    [401, 4],
    [403, 4],
    [404, 3],
    [408, 6],
    [409, 5],
    [500, 1],
    [502, 7],
    [503, 7],
    [504, 6],
  ])('an answer %i of something in between ends with %i', (status, exit) => {
    const failure = failureOfAnswer(status, undefined);
    expect([failure.code, failure.exit]).toEqual([`http_${status}`, exit]);
  });
});

describe('a point in time', () => {
  const now = Date.parse('2026-11-21T10:00:00Z');
  test.each([
    ['2h', '2026-11-21T08:00:00.000Z'],
    ['0s', '2026-11-21T10:00:00.000Z'],
    ['1w', '2026-11-14T10:00:00.000Z'],
    ['2026-11-20T12:00:00+02:00', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T12:00', '2026-11-20T12:00:00.000Z'],
    ['2026-11-20 12:00:30', '2026-11-20T12:00:30.000Z'],
    ['2026-11-20T12:00:30.250', '2026-11-20T12:00:30.250Z'],
    ['2026-11-20 12:00 +0200', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20 12:00 UTC', '2026-11-20T12:00:00.000Z'],
    ['2026-11-20t12:00z', '2026-11-20T12:00:00.000Z'],
  ])('%s', (text, time) => {
    expect(moment(text, undefined, now)).toBe(time);
  });

  test('without a zone is in UTC, wherever the machine is', () => {
    const zone = process.env.TZ;
    process.env.TZ = 'America/New_York';
    try {
      expect(moment('2026-11-20T12:00')).toBe('2026-11-20T12:00:00.000Z');
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  test.each(['', '5', '2026-11-20 10:00 PM', '2026-11-20T', 'yesterday', '2x', '-2h', '2026-13-01', '1.5h'])(
    'refuses %s',
    (text) => {
      expect(() => moment(text)).toThrow('how long ago');
    },
  );
});

describe('drift check', () => {
  test.each([
    [{ all: true }, { filter: {} }],
    [
      { all: true, reconfigure: true },
      { filter: {}, reconfigure: true },
    ],
    [{ config: 'web' }, { configuration: 'web' }],
    [{ config: 'web', enabled: false }, { filter: { config_name: 'web', enabled: false } }],
    [
      { ids: 'a,b', tag: { role: 'db' }, status: 'configured' as const },
      { filter: { ids: 'a,b', tags: 'role=db', status: 'configured' } },
    ],
  ])('%j is %j', (options, body) => expect(checkBody(options)).toEqual(body));

  test.each([[{}], [{ reconfigure: true }], [{ all: true, ids: 'a' }], [{ all: true, config: 'web' }]])(
    '%j does not say which components',
    (options) => expect(() => checkBody(options)).toThrow(),
  );
});
