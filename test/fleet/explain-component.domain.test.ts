/** Why a component is not configured yet. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CONFIGURATION_STATUSES } from '../../domain/components/schema.ts';
import { type ComponentFacts, explainComponent } from '../../domain/fleet/explain-component.ts';

const NOW = '2026-11-21T10:00:00.000Z';
const component: ComponentFacts['component'] = {
  ...{
    id: 'n1',
    status: 'pending',
    why: 'layer 1/1 site.yml is not reached yet',
    enabled: true,
    desired_config: 'web',
  },
  ...{ error_count: 0, retry_policy: 3, session: null, updated_at: NOW },
};
const facts = (
  more: Partial<ComponentFacts['component']> = {},
  around: Partial<ComponentFacts> = {},
): ComponentFacts => ({
  component: { ...component, ...more },
  isThere: true,
  stop: { stopped: false, since: null, actor: null },
  batcher: { state: 'working', paused_by: null, backoff: null, next_pass_at: '2026-11-21T10:00:10.000Z' },
  batch: { state: 'open', why_not: null, until: null, session: null },
  ...around,
});
const batcher = (more: Partial<ComponentFacts['batcher']>) => ({ batcher: { ...facts().batcher, ...more } });
const ID = '5f0c8d0e-1111-4222-8333-123456789abc';

describe('the first that does not hold', () => {
  test.each<[string, ComponentFacts, string, string | null]>([
    [
      'a configuration is desired',
      facts({ desired_config: '', status: 'unconfigured' }),
      'a desired configuration is set',
      './muster component set n1 --config NAME',
    ],
    [
      'there is a configuration web',
      facts({ status: 'unconfigured' }, { isThere: false }),
      'it is made',
      './muster component set n1 --config NAME',
    ],
    [
      'each of its layers has a repository and a commit',
      facts({ status: 'unconfigured', why: 'layer 1/1 site.yml has no commit' }),
      'the configuration is completed: layer 1/1 site.yml has no commit',
      './muster configuration get web',
    ],
    ['it is enabled', facts({ enabled: false, id: '-a b' }), 'it is enabled', "./muster component enable '\\-a\\ b'"],
    [
      'its tries are not used up: errors 3 of 3',
      facts({ status: 'failed', error_count: 3 }),
      'its errors are reset, or its desired configuration is set',
      './muster component reset-errors n1',
    ],
    [
      'no session has it',
      facts({ session: { id: ID, name: 'night' } }),
      'session night ends',
      './muster session get night',
    ],
    [
      'no session has it',
      facts(
        {},
        { batch: { state: 'sent', why_not: null, until: null, session: { id: ID, name: 'b-1', status: null } } },
      ),
      'session b-1 ends',
      './muster session get b-1',
    ],
    [
      'not everything is stopped',
      facts({}, { stop: { stopped: true, since: NOW, actor: 'token/ops' } }),
      'token/ops or another lets it go on',
      './muster go',
    ],
    [
      'the batcher is not disabled',
      facts({}, batcher({ state: 'disabled' })),
      'option batcher_disable is set to false',
      './muster option set batcher_disable=false',
    ],
    [
      'the batcher is not paused',
      facts({}, batcher({ state: 'paused', paused_by: 'token/ops' })),
      'it is resumed; token/ops paused it',
      './muster batch resume',
    ],
    ['the batcher makes its passes', facts({}, batcher({ state: 'late' })), 'a worker runs', './muster status'],
    ['it is in a batch', facts({}, { batch: null }), 'the next pass of the batcher takes it up', null],
    [
      'its batch may be sent',
      facts({}, { batch: { state: 'open', why_not: 'window', until: NOW, session: null } }),
      'its window ends, or it is full',
      null,
    ],
  ])('%s', (text, given, event, command) => {
    const explanation = explainComponent(given);
    expect(explanation.conditions.find(({ holds }) => !holds)).toEqual({
      text,
      holds: false,
      becomes_true_when: event,
    });
    expect([explanation.next?.event, explanation.command]).toEqual([event, command]);
  });
});

test('times are said where they decide', () => {
  expect(explainComponent(facts({}, { batch: null })).next?.at).toBe('2026-11-21T10:00:10.000Z');
  const waits = facts({}, { batch: { state: 'open', why_not: 'window', until: NOW, session: null } });
  expect(explainComponent(waits).next?.at).toBe(NOW);
  const backoff = { length: 60, since: NOW, until: '2026-11-21T10:01:00.000Z', probe: null };
  expect(explainComponent(facts({}, batcher({ state: 'backoff', backoff }))).next).toEqual({
    event: 'the back-off of the batcher ends',
    at: '2026-11-21T10:01:00.000Z',
  });
});

test('what is configured waits for nothing', () => {
  expect(explainComponent(facts({ status: 'configured', why: 'its layer is reached', enabled: false }))).toEqual({
    ...{ state: 'configured', since: NOW, next: null, command: null },
    conditions: [{ text: 'its layer is reached', holds: true, becomes_true_when: null }],
  });
});

test('where all holds the next pass takes it up', () => {
  const { conditions, next } = explainComponent(facts());
  expect(conditions.every(({ holds, becomes_true_when }) => holds && becomes_true_when === null)).toBe(true);
  expect(next).toEqual({ event: 'the next pass of the batcher takes it up', at: '2026-11-21T10:00:10.000Z' });
});

test('whatever the facts are, what does not hold says when it will', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...CONFIGURATION_STATUSES),
      fc.boolean(),
      fc.constantFrom('', 'web'),
      fc.boolean(),
      fc.integer({ min: 0, max: 5 }),
      fc.constantFrom('working', 'backoff', 'paused', 'disabled', 'late') as fc.Arbitrary<'working'>,
      (status, enabled, desired_config, isThere, error_count, state) => {
        const given = facts({ status, enabled, desired_config, error_count }, { isThere, ...batcher({ state }) });
        const { conditions, next } = explainComponent(given);
        for (const { holds, becomes_true_when } of conditions) expect(becomes_true_when === null).toBe(holds);
        expect(new Set(conditions.map(({ text }) => text)).size).toBe(conditions.length);
        expect(next === null).toBe(status === 'configured');
      },
    ),
  );
});
