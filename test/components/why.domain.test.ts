/** The reason of a component's status, in words. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Component } from '../../domain/components/schema.ts';
import { CONFIGURATION_STATUSES, LAYER_STATES } from '../../domain/components/schema.ts';
import { configurationStatus, type DesiredLayerFacts } from '../../domain/components/status.ts';
import { triesOf, whyOf } from '../../domain/components/why.ts';

const URL = 'https://git.example.test/one.git';
const [A, B] = ['a', 'b'].map((digit) => digit.repeat(40)) as [string, string];
const OPTIONS = { default_batcher_retry_policy: 3, default_playbook: 'site.yml' };
const TWO: DesiredLayerFacts[] = [
  { clone_url: URL, playbook: 'site.yml', commit: A },
  { clone_url: URL, playbook: 'net.yml', commit: B },
];
const reached = (playbook: string, commit: string, status: (typeof LAYER_STATES)[number], session_name = 'night') => ({
  ...{ clone_url: URL, playbook, commit, status, session_name },
  last_updated: '2026-11-21T10:00:00Z',
});
type Facts = Partial<Pick<Component, 'desired_config' | 'state' | 'error_count' | 'retry_policy' | 'enabled'>>;

function why(facts: Facts, layers: DesiredLayerFacts[] | null): string {
  const component = { desired_config: 'web', state: [], error_count: 0, enabled: true, ...facts };
  return whyOf({ component, status: configurationStatus(component, layers, OPTIONS), layers, options: OPTIONS });
}

describe('the reason', () => {
  test.each<[string, Facts, DesiredLayerFacts[] | null]>([
    ['no configuration is desired', { desired_config: '' }, null],
    [
      'no configuration is desired; what it reached stays',
      { desired_config: '', state: [reached('site.yml', A, 'applied')] },
      null,
    ],
    ['there is no configuration web', {}, null],
    ['its configuration has no layers', {}, []],
    ['layer 1/2 site.yml is not reached yet (errors 0 of 3)', {}, TWO],
    [
      'layer 2/2 net.yml is not reached yet (errors 1 of 3)',
      { error_count: 1, state: [reached('site.yml', A, 'applied')] },
      TWO,
    ],
    [
      'layer 1/2 site.yml failed in session night (errors 2 of 3)',
      { error_count: 2, state: [reached('site.yml', A, 'failed')] },
      TWO,
    ],
    [
      'layer 2/2 net.yml failed in session night (errors 3 of 3)',
      { error_count: 3, state: [reached('net.yml', B, 'failed')] },
      TWO,
    ],
    ['layer 1/2 site.yml is not reached yet (errors 3 of 3)', { error_count: 3 }, TWO],
    [
      'layer 1/2 site.yml was broken off (errors 9, tried without end)',
      { error_count: 9, retry_policy: -1, state: [reached('site.yml', A, 'incomplete', '')] },
      TWO,
    ],
    ['layer 1/1 site.yml has no commit', {}, [{ clone_url: URL }]],
    ['layer 1/1 site.yml has no repository', {}, [{ commit: A }]],
    ['its layer is reached', { state: [reached('site.yml', A, 'skipped')] }, TWO.slice(0, 1)],
    [
      'all 2 layers are reached',
      { enabled: false, state: [reached('site.yml', A, 'applied'), reached('net.yml', B, 'applied')] },
      TWO,
    ],
    [
      'layer 1/2 site.yml is not reached yet (errors 0 of 3); disabled: nothing starts by itself',
      { enabled: false },
      TWO,
    ],
  ])('%s', (expected, facts, layers) => expect(why(facts, layers)).toBe(expected));

  test('names a layer that is there, whatever was reached', () => {
    const layer = fc.record({
      clone_url: fc.constantFrom(URL, undefined),
      playbook: fc.constantFrom('site.yml', 'net.yml', undefined),
      commit: fc.constantFrom(A, B, undefined),
    });
    const entry = fc
      .tuple(fc.constantFrom('site.yml', 'net.yml'), fc.constantFrom(A, B), fc.constantFrom(...LAYER_STATES))
      .map(([playbook, commit, status]) => reached(playbook, commit, status));
    fc.assert(
      fc.property(
        fc.array(layer, { minLength: 1, maxLength: 4 }),
        fc.array(entry, { maxLength: 4 }),
        fc.integer({ min: 0, max: 5 }),
        (layers, state, error_count) => {
          const component = { desired_config: 'web', state, error_count, enabled: true };
          const status = configurationStatus(component, layers, OPTIONS);
          const text = whyOf({ component, status, layers, options: OPTIONS });
          const [, place] = /^layer ([0-9]+)\//.exec(text) ?? [];
          if (status.status === 'configured') expect(place).toBeUndefined();
          else expect(status.layers[Number(place) - 1]).not.toBe('configured');
          expect(CONFIGURATION_STATUSES).toContain(status.status);
        },
      ),
    );
  });
});

test('its own tries count before those of the option', () => {
  const component = { desired_config: '', state: [], error_count: 0, enabled: true };
  expect([triesOf(component, OPTIONS), triesOf({ ...component, retry_policy: -1 }, OPTIONS)]).toEqual([3, -1]);
});
