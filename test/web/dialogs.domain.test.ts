/** What dialogs make of dry runs, and which rows of a long table are drawn. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { DryRunAnswer } from '../../domain/service/dry-run-schema.ts';
import { confirmRefusal, type Effect, effectOf, mustType } from '../../web/src/shared/rehearsal.ts';
import { EXTRA_ROWS, rowWindow } from '../../web/src/shared/row-window.ts';

const change = (name: string, action = 'update') => ({ kind: 'component', name, action, before: {}, after: {} });
const answer = (more: Partial<DryRunAnswer> = {}): DryRunAnswer => ({
  ...{ status: 200, answer: null, total: 3, changed: 2, unchanged: 1, changes: [change('n1'), change('n2')] },
  ...{ becomes: [], hosts: null, warnings: [] },
  ...more,
});

describe('the effect', () => {
  test('has what changes, and not what stays', () => {
    const becomes = [
      { from: 'failed', to: 'pending', count: 2, ids: ['n1', 'n2'] },
      { from: 'pending', to: 'pending', count: 1, ids: ['n3'] },
    ];
    expect(effectOf(answer({ becomes, warnings: ['odd'], answer: { vanished: ['n9'] } }))).toEqual({
      ...{ changed: 2, names: ['n1', 'n2'], verb: 'change', unchanged: 1, vanished: 1 },
      becomes: [{ from: 'failed', to: 'pending', count: 2 }],
      hosts: null,
      warnings: ['odd'],
    });
  });

  test.each<[Effect['verb'], string[]]>([
    ['be deleted', ['delete', 'delete']],
    ['be made', ['create']],
    ['change', ['create', 'delete']],
    ['change', []],
  ])('it would %s after %j', (verb, actions) => {
    expect(effectOf(answer({ changes: actions.map((action) => change('n1', action)) })).verb).toBe(verb);
  });

  test.each<[boolean, number, Effect['verb']]>([
    [false, 1_000, 'change'],
    [true, 1_001, 'change'],
    [false, 1, 'be deleted'],
    [true, 2, 'be deleted'],
  ])('the count is typed: %s for %i that %s', (isTyped, changed, verb) => {
    const effect = { ...effectOf(answer()), changed, verb };
    expect(mustType(effect)).toBe(isTyped);
    expect(confirmRefusal(effect, '')).toBe(isTyped ? `Type ${changed} to confirm` : null);
    expect(confirmRefusal(effect, ` ${changed} `)).toBeNull();
  });

  test('what is not known is not confirmed', () => {
    expect(confirmRefusal(undefined, '2')).toBe('The effect is not known yet');
  });
});

test('rows that are seen are drawn, with few others', () => {
  const number = fc.integer({ min: 0, max: 100_000 });
  fc.assert(
    fc.property(number, fc.integer({ min: 0, max: 5_000 }), number, (top, height, count) => {
      const rowHeight = 40;
      const { first, end } = rowWindow({ top, height, rowHeight, count });
      expect(0 <= first && first <= end && end <= count).toBe(true);
      for (const y of [top, top + height]) {
        const row = Math.floor(y / rowHeight);
        if (row < count) expect(first <= row && row < end).toBe(true);
      }
      expect(end - first).toBeLessThanOrEqual(Math.ceil(height / rowHeight) + 2 * EXTRA_ROWS + 2);
    }),
  );
  expect(rowWindow({ top: -50, height: 100, rowHeight: 40, count: 3 })).toEqual({ first: 0, end: 3 });
});
