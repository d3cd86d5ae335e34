import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Component, ComponentBody, ComponentView } from '../../domain/components/schema.ts';
import {
  V2Component,
  V2ComponentBody,
  V2ComponentDetails,
  V2ComponentListQuery,
  V2ComponentView,
} from '../../domain/components/v2-schema.ts';
import { putComponent } from '../../domain/components/write-component.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const layer = { clone_url: 'u', playbook: 'p', commit: 'c', session_name: 's' } as const;
const v2Layer = { cloneUrl: 'u', playbook: 'p', commit: 'c', sessionName: 's' };

describe('requests', () => {
  test.each<[object, ComponentBody]>([
    [{ id: 'x' }, { id: 'x' }],
    [{ desiredConfig: 'c' }, { desired_config: 'c' }],
    [{ desiredConfig: 'c'.repeat(61) }, { desired_config: 'c'.repeat(61) }],
    [{ errorCount: -1 }, { error_count: -1 }],
    [{ retryPolicy: -1 }, { retry_policy: -1 }],
    [{ enabled: true }, { enabled: true }],
    [{ tags: { some_tag: 'a', otherTag: 'b' } }, { tags: { some_tag: 'a', otherTag: 'b' } }],
    [{ state: [] }, { state: [] }],
    [{ state: [v2Layer] }, { state: [{ ...layer, status: 'applied' }] }],
    [{ state: [{ ...v2Layer, commit: 'c_applied' }] }, { state: [{ ...layer, status: 'applied' }] }],
    [{ state: [{ ...v2Layer, commit: 'c_failed' }] }, { state: [{ ...layer, status: 'failed' }] }],
    [{ state: [{ ...v2Layer, commit: 'c_skipped' }] }, { state: [{ ...layer, status: 'skipped' }] }],
    [{ state: [{ ...v2Layer, commit: '' }] }, { state: [{ ...layer, commit: '', status: 'applied' }] }],
    [{ state: [{ ...v2Layer, commit: '_failed' }] }, { state: [{ ...layer, commit: '', status: 'failed' }] }],
    [{ stateAppend: { ...v2Layer, commit: 'c_incomplete' } }, { state_append: { ...layer, commit: 'c_incomplete' } }],
    [{ stateAppend: v2Layer }, { state_append: layer }],
  ])('%j means %j', (sent, meant) => {
    expect(V2ComponentBody.input.parse(sent)).toEqual(meant);
  });

  test.each<[object, (string | number)[], string]>([
    [{ desired_config: 'c' }, [], 'unrecognized_keys'],
    [{ error_count: 1 }, [], 'unrecognized_keys'],
    [{ retry_policy: 1 }, [], 'unrecognized_keys'],
    [{ state_append: {} }, [], 'unrecognized_keys'],
    [{ logs: 'x' }, [], 'unrecognized_keys'],
    [{ muster: {} }, [], 'unrecognized_keys'],
    [{ state: [{ ...v2Layer, status: 'failed' }] }, ['state', 0], 'unrecognized_keys'],
    [{ state: [{ ...v2Layer, commit: 'c_incomplete' }] }, ['state', 0, 'commit'], 'invalid_format'],
    [{ state: [{ ...v2Layer, commit: 'a_b_failed' }] }, ['state', 0, 'commit'], 'invalid_format'],
    [{ state: [{ ...v2Layer, commit: 'c_done' }] }, ['state', 0, 'commit'], 'invalid_format'],
    [{ state: [{ ...v2Layer, cloneUrl: 1 }] }, ['state', 0, 'cloneUrl'], 'invalid_type'],
    [{ state: [{ ...v2Layer, sessionName: undefined }] }, ['state', 0, 'sessionName'], 'invalid_type'],
    [{ state: [{ ...v2Layer, lastUpdated: 'x' }] }, ['state', 0, 'lastUpdated'], 'invalid_type'],
    [{ stateAppend: { ...v2Layer, status: 'failed' } }, ['stateAppend'], 'unrecognized_keys'],
    [{ stateAppend: { ...v2Layer, commit: 'a_b_failed' } }, ['stateAppend', 'commit'], 'invalid_format'],
    [{ stateAppend: { ...v2Layer, lastUpdated: 'x' } }, ['stateAppend', 'lastUpdated'], 'invalid_type'],
    [{ configurationStatus: 'failed' }, ['configurationStatus'], 'invalid_type'],
    [{ desiredState: [] }, ['desiredState'], 'invalid_type'],
    [{ retryPolicy: null }, ['retryPolicy'], 'invalid_type'],
    [{ errorCount: '1' }, ['errorCount'], 'invalid_type'],
  ])('%j is refused at %j', (sent, path, code) => {
    const issue = V2ComponentBody.input.safeParse(sent).error?.issues[0];
    expect(issue).toMatchObject({ path, code });
  });

  test('the query of a list has v2 names, and the state is always shown', () => {
    const query = { ids: 'a', status: 'failed', enabled: true, configName: 'c', tags: 'a=b', configDetails: true };
    expect(V2ComponentListQuery.input.parse(query)).toEqual({
      ids: 'a',
      status: 'failed',
      enabled: true,
      config_name: 'c',
      tags: 'a=b',
      config_details: true,
      state_details: true,
    });
    expect(V2ComponentListQuery.input.parse({ config_name: 'c', limit: 5 })).toEqual({ state_details: true });
    expect(V2ComponentListQuery.input.safeParse({ status: '' }).success).toBe(false);
    expect(V2ComponentDetails.input.parse({ configDetails: true })).toEqual({
      config_details: true,
      state_details: true,
    });
  });
});

describe('answers', () => {
  const component: Component = {
    id: 'x',
    state: [
      { ...layer, status: 'applied', last_updated: 't' },
      { ...layer, status: 'failed', last_updated: 't' },
      { ...layer, status: 'skipped', last_updated: 't' },
      { ...layer, status: 'incomplete', last_updated: 't' },
    ],
    desired_config: 'd',
    error_count: 1,
    retry_policy: 2,
    enabled: true,
    tags: { some_tag: '1' },
  };
  const shown = {
    id: 'x',
    state: ['c', 'c_failed', 'c_skipped', 'c_incomplete'].map((commit) => ({ ...v2Layer, commit, lastUpdated: 't' })),
    desiredConfig: 'd',
    errorCount: 1,
    retryPolicy: 2,
    enabled: true,
    tags: { some_tag: '1' },
  };

  test('a written component', () => {
    expect(V2Component.show(component)).toEqual(shown);
    const { retry_policy: _, ...unlimited } = component;
    expect(V2Component.show(unlimited)).not.toHaveProperty('retryPolicy');
  });

  test('a read component shows of desired layers what v2 knows, and nothing that only v3 has', () => {
    const view: ComponentView = {
      ...component,
      configuration_status: 'failed',
      logs: 'http://x',
      desired_state: [
        { name: 'l', clone_url: 'u', source: 's', playbook: 'p', commit: 'c', branch: 'main', status: 'failed' },
      ],
    };
    expect(V2ComponentView.show({ ...view, muster: {} } as ComponentView)).toEqual({
      ...shown,
      configurationStatus: 'failed',
      desiredState: [{ cloneUrl: 'u', playbook: 'p', commit: 'c' }],
    });
  });
});

test('what v2 shows of a component it takes back: the same record', () => {
  const state = fc.record({
    clone_url: fc.string(),
    playbook: fc.string(),
    commit: fc.string().filter((commit) => !commit.includes('_')),
    status: fc.constantFrom('applied' as const, 'failed' as const, 'skipped' as const),
    session_name: fc.string(),
    last_updated: fc.constant('2026-11-21T10:00:00Z'),
  });
  const component = fc.record(
    {
      id: fc.string({ minLength: 1, maxLength: 99 }),
      state: fc.array(state, { maxLength: 4 }),
      desired_config: fc.string(),
      error_count: fc.integer(),
      retry_policy: fc.integer(),
      enabled: fc.boolean(),
      tags: fc.dictionary(
        fc.string().filter((key) => key !== '__proto__'),
        fc.string({ minLength: 1 }),
      ),
    },
    { requiredKeys: ['id', 'state', 'desired_config', 'error_count', 'enabled', 'tags'] },
  );
  fc.assert(
    fc.property(component, (record) => {
      const { state, ...rest } = V2Component.show(record) as { state: Record<string, unknown>[] };
      const sent = { ...rest, state: state.map(({ lastUpdated: _, ...entry }) => entry) };
      expect(putComponent(record.id, V2ComponentBody.input.parse(sent), NOW)).toEqual(record);
    }),
  );
});
