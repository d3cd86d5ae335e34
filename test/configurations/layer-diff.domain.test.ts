/** What two versions of a configuration differ in. */
import { describe, expect, test } from '@jest/globals';
import { diffLayers, diffMembers } from '../../domain/configurations/layer-diff.ts';
import type { Layer } from '../../domain/configurations/schema.ts';
import { seededRandom } from '../support/seeded-random.ts';

const layer = (name: string, more: Partial<Layer> = {}): Layer => ({
  name,
  clone_url: `https://git.example.test/${name}.git`,
  playbook: 'site.yml',
  ...more,
});
const [a, b, c] = [layer('a'), layer('b'), layer('c')];

/** A difference in one line for each layer. */
const told = (before: Layer[], after: Layer[]) =>
  diffLayers(before, after).map(
    ({ from, to, moved, members }) =>
      `${from ?? '+'}>${to ?? '-'}${moved ? ' moved' : ''}${members.map(({ member }) => ` ${member}`).join('')}`,
  );

describe('layers', () => {
  test.each<[string, Layer[], Layer[], string[]]>([
    ['nothing', [a, b], [a, b], ['0>0', '1>1']],
    ['one added in front', [a], [b, a], ['+>0', '0>1']],
    ['one removed', [a, b, c], [a, c], ['0>0', '2>1', '1>-']],
    ['one moved to the front', [a, b, c], [c, a, b], ['2>0 moved', '0>1', '1>2']],
    ['another commit', [layer('a', { commit: '1' })], [layer('a', { commit: '2' })], ['0>0 commit']],
    [
      'another branch, moved',
      [layer('a', { branch: 'x' }), b, c],
      [b, c, layer('a', { branch: 'y' })],
      [...['1>0', '2>1', '0>2 moved branch']],
    ],
    ['another repository of one name', [a], [layer('a', { clone_url: 'https://other.test/a.git' })], ['0>0 clone_url']],
    [
      'another playbook without a name',
      [{ ...a, name: undefined }],
      [{ ...a, name: undefined, playbook: 'b.yml' }],
      ['0>0 playbook'],
    ],
    ['all others', [a], [{ ...b, playbook: 'b.yml' }], ['+>0', '0>-']],
    [
      'a source in place of an address',
      [a],
      [{ name: 'a', source: 'shop', playbook: 'site.yml' }],
      ['0>0 clone_url source'],
    ],
    ['none', [], [], []],
  ])('%s', (_what, before, after, expected) => expect(told(before, after)).toEqual(expected));

  test('are each told of once, with the layers of the newer version in their order, and as few moved as can be', () => {
    const random = seededRandom();
    const shuffled = () =>
      Array.from({ length: 8 }, (_, index) => ({ index, place: random.next() }))
        .filter(({ place }) => place > 0.3)
        .sort((one, other) => one.place - other.place)
        .map(({ index }) => layer(`l${index}`, { playbook: `${index}.yml` }));
    for (let round = 0; round < 200; round++) {
      const [before, after] = [shuffled(), shuffled()];
      const diff = diffLayers(before, after);
      const placesOf = (member: 'from' | 'to') => diff.flatMap((one) => one[member] ?? []);
      expect(placesOf('to')).toEqual([...after.keys()]);
      expect(placesOf('from').sort((one, other) => one - other)).toEqual([...before.keys()]);
      const stayed = diff.filter(({ from, to, moved }) => from !== null && to !== null && !moved);
      const places = stayed.map(({ from }) => from ?? 0);
      expect(places).toEqual([...places].sort((one, other) => one - other));
      expect(diff.every(({ from, to, members }) => from === null || to === null || members.length === 0)).toBe(true);
    }
  });

  test('without a name are called by repository and playbook', () => {
    const { name: _, ...unnamed } = a;
    expect(diffLayers([], [unnamed, { source: 'shop' }]).map(({ title }) => title)).toEqual([
      'https://git.example.test/a.git site.yml',
      'shop',
    ]);
  });
});

describe('members', () => {
  test('that differ have both values, null for none; the order inside of a value does not matter', () => {
    const before = { description: 'old', muster: { rollout: { canary: 1, max_failed: 2 } } };
    const after = { muster: { rollout: { max_failed: 2, canary: 1 } }, tenant_name: 'one' };
    expect(diffMembers(before, after, ['description', 'muster', 'tenant_name', 'toString'])).toEqual([
      { member: 'description', before: 'old', after: null },
      { member: 'tenant_name', before: null, after: 'one' },
    ]);
  });
});
