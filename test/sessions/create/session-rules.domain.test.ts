import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { timeBefore } from '../../../domain/age.ts';
import { overallResult } from '../../../domain/runs/host-progress.ts';
import { selectLayers } from '../../../domain/sessions/layer-selection.ts';
import { isSessionName, retryName } from '../../../domain/sessions/naming.ts';
import { SessionCreateSchema } from '../../../domain/sessions/schema.ts';
import { checkTarget } from '../../../domain/sessions/target.ts';
import { parseSessionTime, toSessionTime } from '../../../domain/sessions/wire-time.ts';

describe('layer selection', () => {
  const layers = [{ name: 'web1' }, { name: 'web10' }, {}, { name: '3' }, { name: 'db' }];
  test.each<[string, number[]]>([
    ['', [0, 1, 2, 3, 4]],
    ['1', [1]],
    ['3,1', [1, 3]],
    ['1,1,1', [1]],
    [' 1 , 2 ', [1, 2]],
    ['0,', [0]],
    ['007,1', [1]],
    ['99,1', [1]],
    ['99999999999999999999', []],
    ['web10', [1]],
    ['web1', [0]],
    ['db,web1', [0, 4]],
    ['db, web1 ,db', [0, 4]],
    ['db,1', [4]],
    ['db,3', [3, 4]],
    ['web', []],
    [',', []],
    [' ', []],
    ['-1', []],
    ['1.0', []],
    ['undefined', []],
    ['null', []],
  ])('limit %j selects %j', (limit, indices) => expect(selectLayers(layers, limit)).toEqual(indices));

  test('a name with a blank is trimmed on the side of the limit only', () => {
    expect(selectLayers([{ name: 'a b' }, { name: null }], ' a b ')).toEqual([0]);
  });

  test('always ascending, each once, in range', () => {
    const named = fc.array(fc.record({ name: fc.option(fc.string()) }), { maxLength: 20 });
    fc.assert(
      fc.property(named, fc.oneof(fc.string(), fc.array(fc.nat(30)).map(String)), (some, limit) => {
        const selected = selectLayers(some, limit);
        expect(selected).toEqual([...new Set(selected)].sort((a, b) => a - b));
        for (const index of selected) expect(some[index]).toBeDefined();
      }),
    );
  });
});

describe('names', () => {
  test.each(['a', '0', 'a-b', 'a.b', 'a--b', 'a'.repeat(45)])('%j is a name', (name) =>
    expect(isSessionName(name)).toBe(true),
  );
  test.each(['', '-a', 'a-', 'A', 'a_b', 'a..b', '.a', 'a.', 'a.-b', 'a'.repeat(46), 'a\n', 'a/b', 'é', 'a b', '../a'])(
    '%j is none',
    (name) => expect(isSessionName(name)).toBe(false),
  );

  test.each([
    ['web', 'retry-0123abcd-web'],
    ['batcher-5e0c2b4e-2f0a-4d57-9f3e-0f6a3c6f0d11', 'retry-0123abcd-5e0c2b4e-2f0a-4d57-9f3e-0f6a3c'],
    [`${'a'.repeat(29)}-b`, `retry-0123abcd-${'a'.repeat(29)}`],
    [`${'a'.repeat(29)}.b`, `retry-0123abcd-${'a'.repeat(29)}`],
    [`${'a'.repeat(28)}--b`, `retry-0123abcd-${'a'.repeat(28)}`],
  ])('a retry of %s is called %s', (root, name) => expect(retryName(root, '0123abcd')).toBe(name));

  test('a retry of any session has a valid name', () => {
    const name = fc.stringMatching(/^[a-z0-9.-]{1,45}$/).filter(isSessionName);
    const prefixed = name.map((text) => `batcher-${text}`).filter(isSessionName);
    fc.assert(
      fc.property(fc.oneof(name, prefixed), fc.stringMatching(/^[0-9a-f]{8}$/), (root, hex) => {
        const retry = retryName(root, hex);
        expect([retry, isSessionName(retry)]).toEqual([retry, true]);
      }),
    );
  });

  test('a long body of a name is refused quickly', () => {
    const body = { name: `${'a-'.repeat(2_000_000)}`, configuration_name: 'c' };
    expect(SessionCreateSchema.safeParse(body).success).toBe(false);
  });
});

describe('ages', () => {
  const now = new Date('2026-11-21T10:00:00.000Z');
  test.each([
    ['', null],
    [undefined, null],
    ['0m', '2026-11-21T10:00:00.000Z'],
    ['90m', '2026-11-21T08:30:00.000Z'],
    ['2H', '2026-11-21T08:00:00.000Z'],
    ['1d', '2026-11-20T10:00:00.000Z'],
    ['1W', '2026-11-14T10:00:00.000Z'],
    ['999999999w', '1970-01-01T00:00:00.000Z'],
    ['000000001d', '2026-11-20T10:00:00.000Z'],
  ])('%j before now is %j', (age, time) => expect(timeBefore(now, age)?.toISOString() ?? null).toBe(time));
});

describe('times', () => {
  test('are whole seconds without zone', () => {
    expect(toSessionTime(new Date('2026-11-21T10:00:00.999Z'))).toBe('2026-11-21T10:00:00');
    expect(toSessionTime(null)).toBeNull();
  });
  test.each([
    ['2026-11-21T10:00:00', '2026-11-21T10:00:00.000Z'],
    ['2026-11-21 10:00:00', '2026-11-21T10:00:00.000Z'],
    ['2026-11-21T10:00:00Z', '2026-11-21T10:00:00.000Z'],
    ['2026-11-21T10:00:00.5', '2026-11-21T10:00:00.500Z'],
    ['2026-11-21T12:00:00+02:00', '2026-11-21T10:00:00.000Z'],
    ['yesterday', null],
    ['2026-13-40T00:00:00', null],
    ['2024-02-29T00:00:00', '2024-02-29T00:00:00.000Z'],
    ['2026-02-29T00:00:00', null],
    ['2026-02-30 00:00:00Z', null],
    ['2026-11-31T00:00:00+02:00', null],
    ['1970-01-01T00:00:00', '1970-01-01T00:00:00.000Z'],
    ['1970-01-01T00:00:00+00:01', null],
    ['0000-01-01T00:00:00', null],
    ['9999-12-31T23:59:59', '9999-12-31T23:59:59.000Z'],
    ['9999-12-31T23:59:59-00:01', null],
    ['', null],
  ])('%j is read as %j', (text, time) => expect(parseSessionTime(text)?.toISOString() ?? null).toBe(time));
});

describe('targets', () => {
  const uuid = '5e0c2b4e-2f0a-4d57-9f3e-0f6a3c6f0d11';
  const group = (...members: string[]) => [{ name: 'g', members }];
  test.each([
    ['nothing given', undefined, { definition: 'dynamic', groups: null, image_map: null }],
    ['an empty object', {}, { definition: 'dynamic', groups: null, image_map: null }],
    [
      'what the CLI clients send',
      { definition: 'dynamic', groups: [], image_map: [] },
      { definition: 'dynamic', groups: [], image_map: [] },
    ],
    ['repo', { definition: 'repo' }, { definition: 'repo', groups: null, image_map: null }],
    ['spec', { definition: 'spec', groups: group('h1') }, { definition: 'spec', groups: group('h1'), image_map: null }],
    [
      'image with hyphens or without',
      { definition: 'image', groups: group(uuid, uuid.replaceAll('-', '')) },
      { definition: 'image', groups: group(uuid, uuid.replaceAll('-', '')), image_map: null },
    ],
  ] as const)('%s', (_name, body, target) => expect(checkTarget(body as never)).toEqual(target));

  test.each([
    ['dynamic with groups', { groups: group('a') }, 'target.groups'],
    ['repo with groups', { definition: 'repo', groups: group('a') }, 'target.groups'],
    ['spec without groups', { definition: 'spec' }, 'target.groups'],
    ['spec with an empty list of groups', { definition: 'spec', groups: [] }, 'target.groups'],
    ['an empty group', { definition: 'spec', groups: group() }, 'target.groups.0.members'],
    ['an empty member', { definition: 'spec', groups: group('a', '') }, 'target.groups.0.members'],
    ['a blank member', { definition: 'spec', groups: group(' ') }, 'target.groups.0.members'],
    ['an image without groups', { definition: 'image' }, 'target.groups'],
    ['an image that is no id', { definition: 'image', groups: group('x') }, 'target.groups.0.members'],
  ])('%s is refused', (_name, body, field) => {
    expect(() => checkTarget(body as never)).toThrow(expect.objectContaining({ code: 'bad_request', field }));
  });
});

describe('the result of a host over its layers', () => {
  test.each([
    [['applied', 'applied'], 'applied'],
    [['applied', 'failed'], 'failed'],
    [['failed', 'applied'], 'failed'],
    [['applied', 'incomplete'], 'incomplete'],
    [['applied', 'running'], 'running'],
    [['failed', 'running'], 'failed'],
  ] as const)('%j is %s', (layers, result) => {
    expect(overallResult(layers.map((status) => ({ status })))).toBe(result);
  });
});
