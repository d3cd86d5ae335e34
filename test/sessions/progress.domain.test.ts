import { describe, expect, test } from '@jest/globals';
import { firstStep, progressOf, type SessionStep } from '../../domain/sessions/progress.ts';
import { FIXED_SENTENCES } from './progress-sentences.ts';

test.each(Object.entries(FIXED_SENTENCES))('%s: %p', (step, [phase, message]) => {
  expect(progressOf({ step } as SessionStep)).toEqual({ phase, message, reason: null });
});

const IMAGES = [
  { resultName: 'web', state: 'open', message: '' },
  { resultName: 'db', state: 'preparing', message: 'fetching_image' },
] as const;

test.each<[SessionStep, object]>([
  [
    { step: 'line', message: 'waiting for disk space', reason: 'disk_low' },
    { phase: 'queued', message: 'waiting for disk space', reason: 'disk_low' },
  ],
  [
    { step: 'images', phase: 'images', images: IMAGES },
    { phase: 'images', message: '1 of 2 images open; db: fetching_image', reason: null },
  ],
  [
    { step: 'images', phase: 'teardown', images: IMAGES },
    { phase: 'teardown', message: '0 of 2 images customized; web: open; db: fetching_image', reason: null },
  ],
  [
    { step: 'leases', message: 'waiting for a (3)' },
    { phase: 'lease', message: 'waiting for a (3)', reason: 'components_busy' },
  ],
  [
    { step: 'room', message: 'no room', reason: 'cluster_refused' },
    { phase: 'clone', message: 'no room', reason: 'cluster_refused' },
  ],
  [
    { step: 'job_goes_on', phase: 'layer' },
    { phase: 'layer', message: 'the Job goes on', reason: null },
  ],
  [
    { step: 'trouble', phase: 'inventory', message: 'inventory failed: no file', reason: null },
    { phase: 'inventory', message: 'inventory failed: no file', reason: null },
  ],
  [
    { step: 'layer', layer: 1 },
    { phase: 'layer', message: 'running layer 2', reason: null, layer: 1 },
  ],
  [
    { step: 'layer', layer: 0, attempt: 3, name: 'layer 1/2 site.yml' },
    { phase: 'layer', message: 'running layer 1/2 site.yml', reason: null, layer: 0, attempt: 3 },
  ],
  [
    { step: 'start_again', layer: 0, attempt: 1, detail: 'no memory', code: 'internal' },
    {
      phase: 'layer',
      message: 'starting layer 1 failed, trying again: no memory',
      reason: 'internal',
      layer: 0,
      attempt: 1,
    },
  ],
  [
    { step: 'local_run', layer: 2, attempt: 1, limit: 4, held: 5 },
    {
      phase: 'layer',
      message: 'waiting for one of 4 local runs, 5 busy (MUSTER_LOCAL_RUNS)',
      reason: null,
      layer: 2,
      attempt: 1,
    },
  ],
  [
    { step: 'hold', layer: 1, message: 'held until 10:29:52Z' },
    { phase: 'hold', message: 'held until 10:29:52Z', reason: null, layer: 1 },
  ],
  [
    { step: 'failed', phase: 'clone', what: 'clone', detail: 'x'.repeat(600), code: 'clone_failed', again: true },
    { phase: 'clone', message: `clone failed, trying again: ${'x'.repeat(500)}`, reason: 'clone_failed' },
  ],
  [
    {
      step: 'failed',
      phase: 'layer',
      layer: 1,
      attempt: 2,
      what: 'ending layer 2',
      detail: 'no',
      code: 'internal',
      again: false,
    },
    { phase: 'layer', message: 'ending layer 2 failed: no', reason: 'internal', layer: 1, attempt: 2 },
  ],
  [
    { step: 'done', message: '1 layer done on 2 hosts' },
    { phase: 'done', message: '1 layer done on 2 hosts', reason: null },
  ],
])('%p', (step, progress) => {
  expect(progressOf(step)).toEqual(progress);
});

describe('the first step', () => {
  const of = (runner: 'local' | 'kubernetes' | undefined, definition: 'dynamic' | 'image') =>
    firstStep({ muster: runner === undefined ? null : { runner }, target: { definition } });

  test.each([
    [undefined, 'dynamic', 'clone'],
    ['local', 'image', 'clone'],
    ['kubernetes', 'image', 'open_images'],
    ['kubernetes', 'dynamic', 'cluster'],
  ] as const)('of a session on %s for %s is %s', (runner, definition, step) => {
    expect(of(runner, definition)).toEqual({ step });
  });
});
