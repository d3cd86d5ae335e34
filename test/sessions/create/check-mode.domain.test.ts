import { describe, expect, test } from '@jest/globals';
import { recordsDrift, recordsState, selectArguments } from '../../../domain/sessions/ansible-arguments.ts';
import { musterOf, reconfigures } from '../../../domain/sessions/check-mode.ts';
import { checkOutcome, type LayerOutcome } from '../../../domain/sessions/outcome.ts';
import type { SessionReason } from '../../../domain/sessions/session-reason.ts';

const dynamic = { definition: 'dynamic', groups: null, image_map: null } as const;

test.each([
  [undefined, null],
  [{}, null],
  [{ check: false }, null],
  [{ check: false, reconfigure: false }, null],
  [{ check: true }, { check: true }],
  [{ check: true, reconfigure: false }, { check: true }],
  [
    { check: true, reconfigure: true },
    { check: true, reconfigure: true },
  ],
])('%j is stored as %j', (given, stored) => expect(musterOf(given)).toEqual(stored));

test.each([[{ reconfigure: true }], [{ check: false, reconfigure: true }]])('%j is refused', (given) => {
  expect(() => musterOf(given)).toThrow('muster.check');
});

test('the words of a check stand before the limit, and whatever is passed through', () => {
  const input = { verbosity: 1, limit: 'a', passthrough: '-t x', target: dynamic, extraVars: '/w/' };
  expect(selectArguments({ ...input, check: true }).words).toEqual([
    '-v',
    '--check',
    '--diff',
    '--limit=a',
    '--tags=x',
  ]);
  expect(selectArguments({ ...input, check: false })).toEqual(selectArguments(input));
});

test.each([
  ['a dynamic one', { target: dynamic, passthrough: '', debugPlaybook: null }, true],
  ['with pass-through', { target: dynamic, passthrough: '--tags x', debugPlaybook: null }, false],
  ['of an image', { target: { definition: 'image' as const }, passthrough: null, debugPlaybook: null }, false],
  ['of a debugging playbook', { target: dynamic, passthrough: null, debugPlaybook: 'noop' }, false],
])('a check never records state; %s records drift where state would be recorded: %s', (_name, session, drift) => {
  expect(recordsState({ ...session, check: true })).toBe(false);
  expect(recordsDrift(session)).toBe(drift);
  expect(recordsState(session)).toBe(drift);
});

describe('the outcome of a check', () => {
  const layer = (exitCode: number | null, hosts = 25): LayerOutcome => ({
    index: 0,
    playbook: 'site.yml',
    exitCode,
    hosts,
    failedHosts: exitCode === 0 ? 0 : 1,
  });
  test.each([
    [
      'drift is no failure',
      [layer(0), layer(0)],
      { hosts: 25, drifted: 2, unclear: 0 },
      'true',
      '2 of 25 drifted',
      null,
    ],
    ['nothing drifted', [layer(0)], { hosts: 1, drifted: 0, unclear: 0 }, 'true', '0 of 1 drifted', null],
    [
      'a host could not be checked',
      [layer(4), layer(0)],
      { hosts: 25, drifted: 2, unclear: 1 },
      'false',
      '2 of 25 drifted, 1 could not be checked: layer 1 site.yml failed: 1 of 25 hosts failed, exit status 4',
      'layer_failed',
    ],
    [
      'ignored by the playbook',
      [layer(0)],
      { hosts: 2, drifted: 0, unclear: 1 },
      'false',
      '0 of 2 drifted, 1 could not be checked',
      'layer_failed',
    ],
    ['nobody ran', [layer(0, 0)], { hosts: 0, drifted: 0, unclear: 0 }, 'true', 'no host ran any task', 'no_host_ran'],
    [
      'nothing recorded',
      [layer(1, 0)],
      null,
      'false',
      'layer 1 site.yml failed: no host ran any task, exit status 1',
      'no_host_ran',
    ],
    ['no layer', [], null, 'false', 'the configuration limit selects no layer', 'no_layer_selected'],
  ])('%s', (_name, layers, counts, succeeded, message, reason) => {
    expect(checkOutcome(layers, counts)).toEqual({ succeeded, message, reason });
  });

  test('a lost run leaves it unknown', () => {
    expect(checkOutcome([layer(0), layer(null)], { hosts: 2, drifted: 1, unclear: 0 })).toMatchObject({
      succeeded: 'unknown',
      reason: 'run_lost',
    });
  });
});

const session = { muster: { check: true, reconfigure: true }, cancel_requested_at: null, deleted_at: null };
test.each<[string, Parameters<typeof reconfigures>[0], SessionReason | null, boolean]>([
  ['asked for', session, null, true],
  ['asked for, and some failed', session, 'layer_failed', true],
  ['not asked for', { ...session, muster: { check: true } }, null, false],
  ['no check', { ...session, muster: null }, null, false],
  ['cancelled', session, 'cancelled', false],
  ['about to be cancelled', { ...session, cancel_requested_at: new Date() }, null, false],
  ['deleted', { ...session, deleted_at: new Date() }, null, false],
  ['out of time', session, 'session_timeout', false],
  ['its machine is gone', session, 'runner_gone', false],
  ['no worker takes it up any more', session, 'runner_unavailable', false],
])('what drifted is configured again: %s', (_name, given, reason, expected) => {
  expect(reconfigures(given, reason)).toBe(expected);
});
