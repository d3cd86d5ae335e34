import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { musterError } from '../../domain/errors.ts';
import { fromV2StatusPatch } from '../../domain/sessions/v2-status-patch.ts';
import { v2ProblemOf } from '../../domain/v2-errors.ts';
import { camelCase } from '../../domain/v2-names.ts';
import { v2Shape } from '../../domain/v2-schema.ts';

test.each([
  ['last_updated', 'lastUpdated'],
  ['id', 'id'],
  ['default_batcher_retry_policy', 'defaultBatcherRetryPolicy'],
  ['lastUpdated', 'lastUpdated'],
  ['0', '0'],
  ['_x', 'X'],
])('%s is %s', (name, v2) => expect(camelCase(name)).toBe(v2));

describe('a problem names the field as v2 does', () => {
  test.each([
    ['status.session.start_time', 'status.session.startTime'],
    ['layers.0.clone_url', 'layers.0.cloneUrl'],
    ['additional_inventory.branch', 'additional_inventory.branch'],
    ['additional_inventory.clone_url', 'additional_inventory.cloneUrl'],
    ['target.image_map.0.source_id', 'target.image_map.0.source_id'],
    ['tags.some_tag', 'tags.some_tag'],
    ['patch.tags.some_tag', 'patch.tags.some_tag'],
    ['filters.config_name', 'filters.config_name'],
    ['ansible_limit', 'ansibleLimit'],
    ['0.state.1.commit', '0.state.1.commit'],
  ])('%s is %s', (field, v2) => {
    const problem = v2ProblemOf(musterError('bad_request', 'wrong', field));
    expect(problem).toMatchObject({ detail: `wrong - '${v2}'`, title: 'Bad Request', status: 400 });
  });

  test('and has the titles of v2', () => {
    expect(v2ProblemOf(musterError('branch_and_commit', 'wrong'))).toEqual({
      type: 'about:blank',
      title: 'Error handling error branches',
      status: 400,
      detail: 'wrong',
      code: 'branch_and_commit',
    });
    expect(v2ProblemOf(musterError('conflicting_layers', 'x')).title).toBe('Error with conflicting layers');
  });
});

describe('a session patch', () => {
  test.each<[unknown, unknown]>([
    [
      { status: { session: { completionTime: 'a', startTime: 'b', job: 'c', status: 'd', succeeded: 'e' } } },
      { status: { session: { completion_time: 'a', start_time: 'b', job: 'c', status: 'd', succeeded: 'e' } } },
    ],
    [{ status: { session: { completion_time: 'a', ims_job: 'x', imsJob: 'x' } } }, { status: { session: {} } }],
    [
      { status: { artifacts: [{ image_id: 'a' }], session: {} } },
      { status: { artifacts: [{ image_id: 'a' }], session: {} } },
    ],
    [
      { status: { session: { job: null, constructor: 'x' } }, other: 1 },
      { status: { session: { job: null } }, other: 1 },
    ],
    [{ status: { session: 'x' } }, { status: { session: 'x' } }],
    [{ status: { session: [1] } }, { status: { session: [1] } }],
    [{ status: null }, { status: null }],
    [{}, {}],
    [[], []],
    ['x', 'x'],
    [undefined, undefined],
  ])('%j is %j in v3', (v2, v3) => expect(fromV2StatusPatch(v2)).toEqual(v3));
});

describe('a derived shape', () => {
  const Inner = z.strictObject({ some_text: z.string(), v3_only: z.string().optional() });
  const Outer = z.strictObject({
    one_item: Inner.optional(),
    many_items: z.array(Inner),
    no_item: Inner.nullable(),
    v3_only: z.int().optional(),
    odd_name: z.int().optional(),
  });
  const inner = v2Shape(Inner, { members: ['some_text'] });
  const shape = v2Shape(Outer, {
    members: ['one_item', 'many_items', 'no_item', 'odd_name'],
    names: { odd_name: 'oddNAME' },
    change: { odd_name: z.int().max(5).optional() },
    inner: { one_item: inner, many_items: inner, no_item: inner },
  });

  test('reads v2 names at every depth, and what is absent stays absent', () => {
    const v2 = { oneItem: { someText: 'a' }, manyItems: [{ someText: 'b' }], noItem: null, oddNAME: 5 };
    const v3 = { one_item: { some_text: 'a' }, many_items: [{ some_text: 'b' }], no_item: null, odd_name: 5 };
    expect(shape.input.parse(v2)).toEqual(v3);
    expect(shape.show(v3)).toEqual(v2);
    expect(shape.input.parse({ manyItems: [], noItem: null })).toEqual({ many_items: [], no_item: null });
    expect(shape.show({ many_items: [], no_item: null })).toEqual({ manyItems: [], noItem: null });
  });

  test('does not show what only v3 has, and does not take it', () => {
    const only = { some_text: 'a', v3_only: 'x' };
    expect(shape.show({ many_items: [only], no_item: only, v3_only: 1 })).toEqual({
      manyItems: [{ someText: 'a' }],
      noItem: { someText: 'a' },
    });
    const refused = (value: object) =>
      shape.input.safeParse({ manyItems: [], noItem: null, ...value }).error?.issues.map(({ path }) => path.join('.'));
    expect(refused({ v3_only: 1 })).toEqual(['']);
    expect(refused({ v3Only: 1 })).toEqual(['']);
    expect(refused({ odd_name: 1 })).toEqual(['']);
    expect(refused({ oddName: 1 })).toEqual(['']);
    expect(refused({ oddNAME: 6 })).toEqual(['oddNAME']);
    expect(refused({ manyItems: [{ some_text: 'a' }] })).toEqual(['manyItems.0.someText', 'manyItems.0']);
    expect(refused({ oneItem: { someText: 'a', v3Only: 'x' } })).toEqual(['oneItem']);
  });

  test('is described in v2 names for requests and answers', () => {
    for (const json of [z.toJSONSchema(shape.input, { io: 'input' }), z.toJSONSchema(shape.object)]) {
      expect(json).toMatchObject({
        type: 'object',
        properties: {
          oneItem: { properties: { someText: { type: 'string' } }, required: ['someText'] },
          oddNAME: { type: 'integer', maximum: 5 },
        },
        required: ['manyItems', 'noItem'],
        additionalProperties: false,
      });
    }
  });
});
