/** What keys of one letter mean on every page. */
import { describe, expect, test } from '@jest/globals';
import { GO_PAGES, KEY_HELP, keyMeaning } from '../../web/src/shared/ui/go-keys.ts';

describe('a key', () => {
  test.each([
    ['f', '/'],
    ['c', '/components'],
    ['s', '/sessions'],
    ['n', '/configurations'],
    ['b', '/batches'],
  ])('%s leads to %s after g alone', (key, to) => {
    expect(keyMeaning(key, true)).toEqual({ to, isHelp: false, isGo: false });
    expect(keyMeaning(key, false)).toEqual({ to: null, isHelp: false, isGo: false });
  });

  test.each(['z', 'toString', 'Enter', 'F'])('%s ends what g has begun', (key) => {
    expect(keyMeaning(key, true)).toEqual({ to: null, isHelp: false, isGo: false });
  });

  test('g begins, and ? shows the help', () => {
    expect(keyMeaning('g', true)).toEqual({ to: null, isHelp: false, isGo: true });
    expect(keyMeaning('?', false)).toEqual({ to: null, isHelp: true, isGo: false });
  });

  test('that leads to a page is in the help', () => {
    const told = KEY_HELP.map(([keys]) => keys);
    for (const key of Object.keys(GO_PAGES)) expect(told).toContain(`g ${key}`);
    expect(new Set(told).size).toBe(told.length);
  });
});
