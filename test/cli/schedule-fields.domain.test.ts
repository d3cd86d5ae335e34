import { describe, expect, test } from '@jest/globals';
import { type FieldOptions, fieldsOf } from '../../cli/commands/schedules/schedule-fields.ts';
import { cli } from '../support/stack/command-line.ts';

const filters: FieldOptions[] = [
  { ids: 'a' },
  { status: 'failed' },
  { config: 'web' },
  { tag: { role: 'db' } },
  { enabled: true },
  { enabled: false },
];
const session: FieldOptions[] = [{ limit: 'web1' }, { prefix: 'n' }];

describe('an option of a schedule without its action is refused, not left out', () => {
  const wrong: [FieldOptions, string][] = [
    ...filters.flatMap((filter): [FieldOptions, string][] =>
      [{}, { refresh: true as const }, { session: 'web' }].map((other) => [
        { ...other, ...filter },
        'to --reconfigure or --check',
      ]),
    ),
    ...session.flatMap((option): [FieldOptions, string][] =>
      [{}, { reconfigure: true }, { check: true }].map((other) => [{ ...other, ...option }, 'belongs to --session']),
    ),
    [{ check: true, desired: 'web' }, '--desired belongs to --reconfigure'],
    [{ reconfigure: true, reconfigureDrifted: true }, '--reconfigure-drifted belongs to --check'],
  ];
  test.each(wrong)('%j', (options, message) => {
    expect(() => fieldsOf(options)).toThrow(message);
  });

  test.each([
    ...filters.flatMap((filter) => [
      { reconfigure: true, ...filter },
      { check: true, ...filter },
    ]),
    ...session.map((option) => ({ session: 'web', ...option })),
    { reconfigure: true, desired: 'web' },
    { check: true, reconfigureDrifted: true },
  ])('with it %j is taken', (options) => {
    expect(Object.keys(fieldsOf(options))).toEqual(['action']);
  });
});

test('an update that changes nothing, and one of half an action, are mistakes before anything is sent', async () => {
  expect(await cli(['schedule', 'update', 'nightly'])).toMatchObject({
    exit: 2,
    err: expect.stringContaining('nothing to change was given'),
  });
  const { exit, err } = await cli(['schedule', 'update', 'nightly', '--reconfigure', '--limit', 'web1']);
  expect([exit, err]).toEqual([2, 'error: usage: --limit belongs to --session\n']);
});
