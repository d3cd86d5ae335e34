import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isErrorCode } from '../../domain/errors.ts';
import { describeLayerFailure, type LayerOutcome, sessionOutcome } from '../../domain/sessions/outcome.ts';

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
    'layer 2 (site.yml) failed: 1 of 3 hosts failed, exit status 2',
    'layer_failed',
  ],
  [
    'a failure without a failed host',
    [layer(0, 4)],
    'false',
    'layer 0 (site.yml) failed: no host is marked as failed, exit status 4',
    'layer_failed',
  ],
  [
    'a playbook that reached nobody',
    [layer(0, 1, 0)],
    'false',
    'layer 0 (site.yml) failed: no host ran any task, exit status 1',
    'no_host_ran',
  ],
  ['success with nobody', [layer(0, 0, 0), layer(1, 0, 0)], 'true', 'no host ran any task', 'no_host_ran'],
  ['somebody in the first layer only', [layer(0, 0, 2), layer(1, 0, 0)], 'true', '2 layers done on 2 hosts', null],
  [
    'a failure of nobody after somebody',
    [layer(0, 0, 2), layer(1, 1, 0)],
    'false',
    'layer 1 (site.yml) failed: no host ran any task, exit status 1',
    'layer_failed',
  ],
  [
    'results of nobody since they could not be written',
    [layer(0, 0, 2), layer(1, 74, 0)],
    'false',
    'layer 1 (site.yml) failed: the results of its hosts could not be written, as on a full disk',
    'disk_low',
  ],
  [
    'a program that has results and ends with the same status',
    [layer(0, 74, 2)],
    'false',
    'layer 0 (site.yml) failed: no host is marked as failed, exit status 74',
    'layer_failed',
  ],
  [
    'a lost run',
    [layer(0, 0), layer(1, null, 0)],
    'unknown',
    'layer 1 (site.yml): the run was lost, nobody knows how it ended; it is not started again',
    'run_lost',
  ],
] as [string, LayerOutcome[], string, string, string | null][])('%s', (_title, layers, succeeded, message, reason) => {
  expect(sessionOutcome(layers)).toEqual({ succeeded, message, reason });
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
      expect(describeLayerFailure(layer(index, exitCode))).toContain(`layer ${index} (site.yml)`);
    }),
  );
});
