import { describe, expect, test } from '@jest/globals';
import { overSize, WEB_SIZE_BAR, webSizes } from '../../deploy/stack/web-size.ts';

const MANIFEST = {
  'index.html': { file: 'assets/index.js', isEntry: true, imports: ['_shared.js'], dynamicImports: ['src/a.tsx'] },
  'src/fleet/fleet-page.tsx': { file: 'assets/fleet.js', imports: ['_shared.js', '_badge.js'] },
  'src/a.tsx': { file: 'assets/a.js', imports: ['_badge.js'] },
  '_shared.js': { file: 'assets/shared.js' },
  '_badge.js': { file: 'assets/badge.js' },
};
const BYTES = new Map([
  ['assets/index.js', 100],
  ['assets/shared.js', 30],
  ['assets/badge.js', 5],
  ['assets/fleet.js', 20],
  ['assets/a.js', 40],
  ['assets/hub.js', 50],
]);

describe('the scripts of a build', () => {
  test('are those of the first page, each once, and what comes later, workers too', () => {
    expect(webSizes(MANIFEST, BYTES)).toEqual({ first: 155, later: 50, all: 245 });
  });

  test.each([
    ['entry', { 'src/fleet/fleet-page.tsx': { file: 'a' } }],
    ['src/fleet/fleet-page.tsx', { 'index.html': { file: 'a', isEntry: true } }],
  ])('without %s cannot be measured', (what, manifest) => {
    expect(() => webSizes(manifest, BYTES)).toThrow(`the build has no ${what}`);
  });
});

describe('the bar', () => {
  test('is kept by what is as large', () => expect(overSize(WEB_SIZE_BAR)).toEqual([]));

  test.each([
    ['first', 'scripts of the first page: 170.1 KiB of 170.0'],
    ['later', 'the largest later script: 90.1 KiB of 90.0'],
    ['all', 'all scripts: 350.1 KiB of 350.0'],
  ] as const)('names %s', (what, words) => {
    expect(overSize({ ...WEB_SIZE_BAR, [what]: WEB_SIZE_BAR[what] + 100 })).toEqual([words]);
  });
});
