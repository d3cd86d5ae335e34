import { describe, expect, test } from '@jest/globals';
import { planRetry, type RetryInput } from '../../../domain/sessions/retry-plan.ts';
import type { Snapshot, Target } from '../../../domain/sessions/schema.ts';

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
  limitOfHosts: false,
  target: { definition: 'dynamic', groups: null, image_map: null },
  runs: [run(0, 0), run(2, 2)],
  isOneRun: false,
  notApplied: [{ host: 'h2', layer: 2 }],
  imagesNotMade: [],
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
      'all layers in one run that succeeded: every layer again',
      { isOneRun: true, runs: [run(0, 0)] },
      [[0, 2, 5], '0,2,5', 'web'],
    ],
    [
      'all layers in one run that failed: every layer',
      { isOneRun: true, runs: [run(0, 2)] },
      [[0, 2, 5], '0,2,5', 'web'],
    ],
    [
      'a debugging playbook: again',
      { snapshot: { ...snapshot, layers: [], debug_playbook: 'fail' }, configurationLimit: '' },
      [[], '', 'web'],
    ],
  ])('%s', (_name, change, expected) => expect(shape(change)).toEqual(expected));

  test.each<[Partial<RetryInput>, boolean]>([
    [{}, false],
    [{ limitOfHosts: true }, true],
    [{ hosts: 'failed' }, true],
  ])('%j: whether its limit can only be hosts is %j', (change, expected) => {
    expect(planRetry({ ...input, ...change }).limitOfHosts).toBe(expected);
  });

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

describe('images begin anew: their jobs and what was done in them are gone', () => {
  const A = '5e0c2b4e-2f0a-4d57-9f3e-0f6a3c6f0d11';
  const B = '6f1d3c5f-2f0a-4d57-9f3e-0f6a3c6f0d22';
  const C = '7a2e4d60-2f0a-4d57-9f3e-0f6a3c6f0d33';
  const target: Target = {
    definition: 'image',
    groups: [
      { name: 'web', members: [A, B] },
      { name: 'done', members: [A] },
      { name: 'other', members: [C, B.toUpperCase()] },
    ],
    image_map: [
      { source_id: A, result_name: 'a' },
      { source_id: B.replaceAll('-', ''), result_name: 'b' },
    ],
  };
  const images: Partial<RetryInput> = { target, imagesNotMade: [B], notApplied: [{ host: B, layer: 2 }] };

  test('every layer of the snapshot runs on all images', () => {
    expect(shape(images)).toEqual([[0, 2, 5], '0,2,5', 'web']);
    expect(planRetry({ ...input, ...images }).target).toEqual(target);
  });

  test('failed: every layer, on the images of which nothing came; the limit is that of the session', () => {
    const failed: Partial<RetryInput> = { ...images, hosts: 'failed' };
    expect(shape(failed)).toEqual([[0, 2, 5], '0,2,5', 'web']);
    expect(planRetry({ ...input, ...failed }).target).toEqual({
      definition: 'image',
      groups: [
        { name: 'web', members: [B] },
        { name: 'other', members: [B.toUpperCase()] },
      ],
      image_map: [{ source_id: B.replaceAll('-', ''), result_name: 'b' }],
    });
  });

  test('failed: an image that no host result tells of, since it could not be packed', () => {
    const plan = planRetry({ ...input, ...images, notApplied: [], imagesNotMade: [C], hosts: 'failed' });
    expect(plan.target.groups).toEqual([{ name: 'other', members: [C] }]);
    expect(plan.target.image_map).toEqual([]);
  });

  test('failed when all were made is refused', () => {
    const all = { ...input, ...images, imagesNotMade: [], hosts: 'failed' as const };
    expect(() => planRetry(all)).toThrow(expect.objectContaining({ code: 'nothing_failed' }));
  });
});
