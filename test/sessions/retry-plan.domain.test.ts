import { describe, expect, test } from '@jest/globals';
import { planRetry, type RetryInput } from '../../domain/sessions/retry-plan.ts';
import type { Snapshot } from '../../domain/sessions/schema.ts';

const layer = (index: number) => ({
  index,
  name: null,
  url: 'https://git/a.git',
  source: null,
  commit: 'a'.repeat(40),
  playbook: `p${index}.yml`,
  require_dkms: false,
});
const snapshot: Snapshot = {
  layers: [layer(0), layer(2), layer(5)],
  additional_inventory: null,
  debug_playbook: null,
  ansible_config: 'cfg',
};
const run = (index: number, exit_code: number | null, attempt = 1, state = exit_code === null ? 'lost' : 'ended') => ({
  layer: index,
  attempt,
  state,
  exit_code,
});
const input: RetryInput = {
  name: 's',
  snapshot,
  configurationLimit: '0,2,5',
  ansibleLimit: 'web',
  runs: [run(0, 0), run(2, 2)],
  notApplied: [{ host: 'h2', layer: 2 }],
  hosts: 'all',
};
const shape = (change: Partial<RetryInput>) => {
  const plan = planRetry({ ...input, ...change });
  return [plan.snapshot.layers.map(({ index }) => index), plan.configurationLimit, plan.ansibleLimit];
};

describe('from which layer, for whom', () => {
  test.each<[string, Partial<RetryInput>, unknown[]]>([
    ['all hosts: from the failed layer on', {}, [[2, 5], '2,5', 'web']],
    ['failed hosts: limited to them', { hosts: 'failed' }, [[2, 5], '2,5', 'h2']],
    [
      'failed hosts of several layers: from the first',
      {
        hosts: 'failed',
        notApplied: [
          { host: 'a', layer: 2 },
          { host: 'b', layer: 0 },
        ],
      },
      [[0, 2, 5], '0,2,5', 'a,b'],
    ],
    ['nothing ran: all layers', { runs: [] }, [[0, 2, 5], '0,2,5', 'web']],
    ['a lost run is not done', { runs: [run(0, null)] }, [[0, 2, 5], '0,2,5', 'web']],
    ['a run that goes on is not done', { runs: [run(0, 0), run(2, null, 1, 'started')] }, [[2, 5], '2,5', 'web']],
    [
      'a layer that was retried in place is done',
      { runs: [run(0, 2), run(0, 0, 2), run(2, 4, 2)] },
      [[2, 5], '2,5', 'web'],
    ],
    ['all succeeded: every layer again', { runs: [run(0, 0), run(2, 0), run(5, 0)] }, [[0, 2, 5], '0,2,5', 'web']],
    [
      'a debugging playbook: again',
      { snapshot: { ...snapshot, layers: [], debug_playbook: 'fail' }, configurationLimit: '' },
      [[], '', 'web'],
    ],
  ])('%s', (_name, change, expected) => expect(shape(change)).toEqual(expected));

  test('commits are those of the snapshot', () => {
    expect(planRetry(input).snapshot.layers).toEqual([layer(2), layer(5)]);
  });
});

describe('what is refused', () => {
  test.each<[string, Partial<RetryInput>, string]>([
    ['failed hosts when none failed', { hosts: 'failed', notApplied: [] }, 'nothing_failed'],
    ['a snapshot without layers', { snapshot: { ...snapshot, layers: [] } }, 'no_layer_selected'],
    ...['@x', 'a,b', '!x', 'x[1:2]', '~x', 'a b', '*', '-x', ''].map((host): [string, Partial<RetryInput>, string] => [
      `the host ${JSON.stringify(host)} in a limit`,
      { hosts: 'failed', notApplied: [{ host, layer: 2 }] },
      'bad_request',
    ]),
  ])('%s', (_name, change, code) => {
    expect(() => planRetry({ ...input, ...change })).toThrow(expect.objectContaining({ code }));
  });
});
