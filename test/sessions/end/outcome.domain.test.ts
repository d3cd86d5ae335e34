import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isErrorCode } from '../../../domain/errors.ts';
import {
  describeLayerFailure,
  type LayerOutcome,
  type SessionTally,
  sessionOutcome,
} from '../../../domain/sessions/outcome.ts';

const layer = (index: number, exitCode: number | null, hosts = 3, failedHosts = 0): LayerOutcome => ({
  index,
  playbook: 'site.yml',
  exitCode,
  hosts,
  failedHosts,
});

test.each([
  ['no layer', [], 'false', 'the configuration limit selects no layer', 'no_layer_selected'],
  ['one layer done', [layer(0, 0)], 'true', '1 layer done on 3 hosts', null],
  ['one host', [layer(0, 0, 1)], 'true', '1 layer done on 1 host', null],
  [
    'as many hosts as the largest layer has',
    [layer(0, 0, 2), layer(4, 0, 5)],
    'true',
    '2 layers done on 5 hosts',
    null,
  ],
  [
    'a failed host',
    [layer(0, 0), layer(2, 2, 3, 1)],
    'false',
    'layer 3 site.yml failed: 1 of 3 hosts failed, exit status 2',
    'layer_failed',
  ],
  [
    'a failure without a failed host',
    [layer(0, 4)],
    'false',
    'layer 1 site.yml failed: no host is marked as failed, exit status 4',
    'layer_failed',
  ],
  [
    'a playbook that reached nobody',
    [layer(0, 1, 0)],
    'false',
    'layer 1 site.yml failed: no host ran any task, exit status 1',
    'no_host_ran',
  ],
  ['success with nobody', [layer(0, 0, 0), layer(1, 0, 0)], 'true', 'no host ran any task', 'no_host_ran'],
  ['somebody in the first layer only', [layer(0, 0, 2), layer(1, 0, 0)], 'true', '2 layers done on 2 hosts', null],
  [
    'a failure of nobody after somebody',
    [layer(0, 0, 2), layer(1, 1, 0)],
    'false',
    'layer 2 site.yml failed: no host ran any task, exit status 1',
    'layer_failed',
  ],
  [
    'results of nobody since they could not be written',
    [layer(0, 0, 2), layer(1, 74, 0)],
    'false',
    'layer 2 site.yml failed: the results of its hosts could not be written, as on a full disk',
    'disk_low',
  ],
  [
    'a program that has results and ends with the same status',
    [layer(0, 74, 2)],
    'false',
    'layer 1 site.yml failed: no host is marked as failed, exit status 74',
    'layer_failed',
  ],
  [
    'a lost run',
    [layer(0, 0), layer(1, null, 0)],
    'unknown',
    'layer 2 site.yml: the run was lost, nobody knows how it ended; it is not started again',
    'run_lost',
  ],
] as [string, LayerOutcome[], string, string, string | null][])('%s', (_title, layers, succeeded, message, reason) => {
  expect(sessionOutcome(layers)).toEqual({ succeeded, message, reason });
});

const tally = (given: Partial<SessionTally> = {}): SessionTally => ({
  hosts: 3,
  failed: 0,
  incomplete: 0,
  notReached: 0,
  failedNames: [],
  ...given,
});

test.each([
  [
    'names those that failed, and says why',
    {
      exitCode: 2,
      failedHosts: 1,
      tally: tally({ failed: 1, failedNames: ['n1'] }),
      why: 'Install: rc 100: E: gone (a.yml:3)',
    },
    'layer 1 site.yml failed: 1 of 3 hosts failed (n1), exit status 2: Install: rc 100: E: gone (a.yml:3)',
  ],
  [
    'counts those that were not reached',
    { exitCode: 2, hosts: 1, failedHosts: 1, tally: tally({ failed: 1, notReached: 2, failedNames: ['sr1'] }) },
    'layer 1 site.yml failed: 1 of 3 hosts failed, 2 were not reached (sr1), exit status 2',
  ],
  [
    'names a few of many',
    { exitCode: 2, failedHosts: 9, tally: tally({ hosts: 9, failed: 9, failedNames: ['a', 'b'] }) },
    'layer 1 site.yml failed: 9 of 9 hosts failed (a, b and 7 more), exit status 2',
  ],
  [
    'a playbook that broke off',
    {
      exitCode: 4,
      hosts: 2,
      brokeOff: true,
      why: "'g' is undefined (site.yml:6)",
      tally: tally({ hosts: 2, incomplete: 2 }),
    },
    "layer 1 site.yml failed: the playbook broke off after 2 hosts had run tasks: 'g' is undefined (site.yml:6)",
  ],
  [
    'one that broke off after a host had failed',
    {
      exitCode: 4,
      hosts: 2,
      failedHosts: 1,
      brokeOff: true,
      tally: tally({ failed: 1, notReached: 1, failedNames: ['le1'] }),
    },
    'layer 1 site.yml failed: the playbook broke off after 2 hosts had run tasks, exit status 4; 1 of 3 hosts failed, 1 was not reached (le1)',
  ],
  [
    'one that was killed',
    { exitCode: 137, hosts: 1, brokeOff: true, tally: tally({ hosts: 1, incomplete: 1 }) },
    'layer 1 site.yml failed: ansible-playbook was killed by signal 9 (out of memory?) after 1 host had run tasks',
  ],
  [
    'one that was killed before it began',
    { exitCode: 139, hosts: 0, tally: tally({ hosts: 0 }) },
    'layer 1 site.yml failed: ansible-playbook was killed by signal 11 (SIGSEGV) before any host had run a task',
  ],
  [
    'a playbook that Ansible refuses',
    { exitCode: 4, hosts: 0, tally: tally({ hosts: 0 }), why: "couldn't resolve module (a.yml:4)" },
    "layer 1 site.yml failed: no host ran any task, exit status 4: couldn't resolve module (a.yml:4)",
  ],
  [
    'a run that was lost',
    { exitCode: null, hosts: 2, failedHosts: 1, brokeOff: true, tally: tally({ failed: 1, failedNames: ['x'] }) },
    'layer 1 site.yml: the run was lost, nobody knows how it ended; it is not started again; 1 of 3 hosts failed (x)',
  ],
] as [string, Partial<LayerOutcome>, string][])('the sentence of a failure: %s', (_title, given, message) => {
  expect(describeLayerFailure({ ...layer(0, 2), ...given })).toBe(message);
});

test('a success by the exit status counts hosts as the table does', () => {
  const outcome = { ...layer(0, 0, 2, 1), tally: tally({ hosts: 2, failed: 1, failedNames: ['iu1'] }) };
  expect(sessionOutcome([outcome])).toEqual({
    succeeded: 'true',
    message: '1 layer done, 1 of 2 hosts failed (iu1)',
    reason: null,
  });
  expect(sessionOutcome([{ ...layer(0, 0, 2), tally: tally({ hosts: 2 }) }]).message).toBe('1 layer done on 2 hosts');
});

test('the last exit status alone decides, and every reason is known or of a layer', () => {
  const any = fc.record({
    index: fc.nat(30),
    playbook: fc.string(),
    exitCode: fc.option(fc.integer({ min: 0, max: 255 })),
    hosts: fc.nat(),
    failedHosts: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(any, { minLength: 1, maxLength: 6 }), (layers) => {
      const { succeeded, message, reason } = sessionOutcome(layers);
      const last = layers.at(-1)?.exitCode;
      expect(succeeded).toBe(last === null ? 'unknown' : last === 0 ? 'true' : 'false');
      expect(message).not.toBe('');
      expect(reason === null || isErrorCode(reason) || reason === 'layer_failed' || reason === 'no_host_ran').toBe(
        true,
      );
      expect(reason === null).toBe(succeeded === 'true' && layers.some(({ hosts }) => hosts > 0));
    }),
  );
});

test('a failure names its layer and playbook', () => {
  fc.assert(
    fc.property(fc.nat(99), fc.option(fc.nat(255)), (index, exitCode) => {
      expect(describeLayerFailure(layer(index, exitCode))).toContain(`layer ${index + 1} site.yml`);
    }),
  );
});
