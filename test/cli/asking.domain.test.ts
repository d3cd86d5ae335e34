/** Shapes of tables, times, and what is said of a file that cannot be read. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { summariseHost, worstFirst } from '../../cli/follow/host-table.ts';
import { fileTrouble, unclosedBracket } from '../../cli/input/file-trouble.ts';
import type { View } from '../../cli/output/columns.ts';
import { renderList } from '../../cli/output/render.ts';
import { shapedView, sortedRecords } from '../../cli/output/shape.ts';
import { timeText } from '../../cli/output/times.ts';

interface Row {
  id: string;
  size: number;
}

const rows: Row[] = [
  { id: 's9', size: 3 },
  { id: 's10', size: 1 },
  { id: 's1', size: 2 },
];
const view: View<Row> = {
  noun: 'rows',
  name: ({ id }) => id,
  columns: [
    { title: 'ID', value: ({ id }) => id },
    { title: 'LAST RUN', value: ({ size }) => 'abc'.charAt(size - 1), order: ({ size }) => size },
    { title: 'MORE', value: () => 'm', wide: true },
  ],
};

describe('a shape', () => {
  test.each([
    ['id', ['s1', 's9', 's10']],
    ['-id', ['s10', 's9', 's1']],
    ['ID', ['s1', 's9', 's10']],
    ['last_run', ['s10', 's1', 's9']],
    ['-last-run', ['s9', 's1', 's10']],
    ['more', ['s9', 's10', 's1']],
    [undefined, ['s9', 's10', 's1']],
  ])('sorted by %s', (sort, ids) => {
    const shape = { output: 'table', ...(sort === undefined ? {} : { sort }) } as const;
    expect(sortedRecords(view, rows, shape).map(({ id }) => id)).toEqual(ids);
  });

  test('shows the columns that were asked for, in their order, wide ones too', async () => {
    const shaped = shapedView(view, { output: 'table', columns: ['more', 'ID'] });
    expect(await renderList(shaped, rows.slice(0, 1), 'table')).toBe('MORE  ID\nm     s9\n');
    expect(await renderList(shaped, rows.slice(0, 1), 'tsv', false)).toBe('m\ts9\n');
    expect(await renderList(view, rows.slice(0, 1), 'table', false)).toBe('s9  c\n');
  });

  test.each([{ columns: ['idd'] }, { columns: ['id', ''] }])('refuses %j and names the columns', (shape) => {
    expect(() => shapedView(view, { output: 'table', ...shape })).toThrow(
      expect.objectContaining({ exit: 2, fix: 'columns are id, last_run, more' }),
    );
  });
});

describe('times of tables', () => {
  const now = Date.UTC(2026, 10, 21, 12);
  test.each([
    ['2026-11-21T11:55:00Z', 'iso', '2026-11-21T11:55:00Z'],
    ['2026-11-21T11:55:00', 'iso', '2026-11-21T11:55:00Z'],
    ['2026-11-21T11:55:00', 'relative', '5m00s ago'],
    ['2026-11-21T13:00:00.000Z', 'relative', 'in 1h00m'],
    ['2026-11-21T12:00:00Z', 'relative', '0s ago'],
    ['2026-11-21', 'relative', '2026-11-21'],
    ['at 2026-11-21T11:55:00Z', 'relative', 'at 2026-11-21T11:55:00Z'],
    ['', 'relative', ''],
  ] as const)('%s as %s is %s', (text, form, shown) => {
    expect(timeText(text, form, now)).toBe(shown);
  });

  test('local ones have no zone', () => {
    expect(timeText('2026-11-21T11:55:09Z', 'local', now)).toMatch(/^2026-11-2[012] \d\d:\d\d:09$/);
  });
});

describe('a file', () => {
  test.each([
    ['{\n"a": [1,\n', 'line 2: unexpected end; `[` of line 2 is not closed'],
    ['{[', 'line 1: unexpected end; `[` of line 1 is not closed'],
    ['[\n {"a": "]}"},\n', 'line 2: unexpected end; `[` of line 1 is not closed'],
    ['{"a": "\\"["', 'line 1: unexpected end; `{` of line 1 is not closed'],
    ['{"a": 1}', null],
    ['{"a": ]', null],
    ['a: [', null],
    ['', null],
  ])('%j', (text, sentence) => {
    expect(unclosedBracket(text)).toBe(sentence);
  });

  test('that is JSON has no bracket open, and one that is cut off has', () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(fc.jsonValue()), fc.object()), (value) => {
        const text = JSON.stringify(value);
        expect(unclosedBracket(text)).toBeNull();
        expect(unclosedBracket(text.slice(0, -1))).not.toBeNull();
      }),
    );
  });

  test('that is not there', () => {
    expect(fileTrouble(Object.assign(new Error('ENOENT: x'), { code: 'ENOENT' }))).toBe('no such file');
    expect(fileTrouble(new Error('other'))).toBe('other');
  });
});

test('hosts that a cancel has broken off are cancelled; what failed has failed', () => {
  const host = (name: string, result: 'failed' | 'incomplete' | 'applied') => ({ host: name, result, layers: [] });
  const hosts = [host('a', 'applied'), host('b', 'incomplete'), host('c', 'failed')];
  const shown = (isCancelled: boolean) =>
    worstFirst(hosts.map((one) => summariseHost(one, { isCancelled }))).map(({ host: name, result }) => [name, result]);
  expect(shown(true)).toEqual([
    ['c', 'failed'],
    ['b', 'cancelled'],
    ['a', 'applied'],
  ]);
  expect(shown(false)[1]).toEqual(['b', 'incomplete']);
});
