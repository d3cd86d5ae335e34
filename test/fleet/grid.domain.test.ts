import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { byNaturalOrder, inNaturalOrder } from '../../domain/components/natural-order.ts';
import { gridOrder } from '../../domain/fleet/grid.ts';

test('cells stand group by group, each in natural order; what has no label comes last', () => {
  const ids = ['n1', 'n10', 'n2', 'x1', 'x2'];
  const { places, groups } = gridOrder(ids, ['rack10', 'rack2', 'rack10', '', 'rack2']);
  expect(groups).toEqual([
    { label: 'rack2', start: 0, count: 2 },
    { label: 'rack10', start: 2, count: 2 },
    { label: '', start: 4, count: 1 },
  ]);
  expect(places.map((place) => ids[place])).toEqual(['n10', 'x2', 'n1', 'n2', 'x1']);
  expect(gridOrder([], [])).toEqual({ places: [], groups: [] });
});

test('the fast order is the natural one', () => {
  const part = fc.oneof(
    fc.constantFrom(
      'n',
      'n-',
      '-',
      '!',
      '0',
      '00',
      '1',
      '9',
      '10',
      '010',
      '999999999',
      '1000000000',
      'a',
      'A',
      '\u{1f600}',
      '\ue000',
      '\u0001',
    ),
    fc.string({ maxLength: 2 }),
  );
  const name = fc.array(part, { maxLength: 5 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.array(name, { maxLength: 12 }), (names) => {
      expect(inNaturalOrder(names)).toEqual([...names].sort(byNaturalOrder));
    }),
    { numRuns: 500 },
  );
});
