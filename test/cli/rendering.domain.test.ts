import { describe, expect, test } from '@jest/globals';
import { parse as parseYaml } from 'yaml';
import type { View } from '../../cli/output/columns.ts';
import { FORMATS } from '../../cli/output/formats.ts';
import { renderList, renderOne } from '../../cli/output/render.ts';
import { fieldList } from '../../cli/output/table.ts';
import { duration, timeOf } from '../../cli/output/times.ts';

interface Machine {
  id: string;
  note: string;
}

const view: View<Machine> = {
  noun: 'machines',
  name: (machine) => machine.id,
  columns: [
    { title: 'ID', value: (machine) => machine.id },
    { title: 'NOTE', value: (machine) => machine.note, wide: true },
  ],
};
const records: Machine[] = [
  { id: 'node-one', note: 'tab\there\nnext \u001b[31m \\' },
  { id: 'n2', note: '' },
];

describe('a list', () => {
  test('as a table: narrow columns only', async () => {
    expect(await renderList(view, records, 'table')).toBe('ID\nnode-one\nn2\n');
  });

  test('as a wide table: columns aligned, cells on one line each and harmless', async () => {
    expect(await renderList(view, records, 'wide')).toBe(
      'ID        NOTE\nnode-one  tab\\there\\nnext \\x1b[31m \\\nn2\n',
    );
  });

  test('as a table of a fleet of 200,000', async () => {
    const fleet = Array.from({ length: 200_000 }, (_, index) => ({ id: `node-${index}`, note: '' }));
    const shown = await renderList(view, fleet, 'table');
    expect(shown.slice(-12)).toBe('node-199999\n');
  });

  test('as TSV: all columns, separators inside a cell escaped', async () => {
    expect(await renderList(view, records, 'tsv')).toBe(
      'id\tnote\nnode-one\ttab\\there\\nnext \u001b[31m \\\\\nn2\t\n',
    );
  });

  test('as names', async () => {
    expect(await renderList(view, records, 'name')).toBe('node-one\nn2\n');
  });

  test('as JSON, JSON lines and YAML: the records themselves', async () => {
    expect(JSON.parse(await renderList(view, records, 'json'))).toEqual(records);
    const lines = (await renderList(view, records, 'jsonl')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(records);
    expect(parseYaml(await renderList(view, records, 'yaml'))).toEqual(records);
  });

  test.each(FORMATS)('without records as %s is still well formed', async (format) => {
    const text = await renderList(view, [], format);
    expect(text === '' || text.endsWith('\n')).toBe(true);
  });
});

describe('one record', () => {
  const record = { id: 'n2', note: 'x' };

  test('for programs it is the record, not a list', async () => {
    expect(JSON.parse(await renderOne(view, record, 'json', () => ''))).toEqual(record);
    expect(await renderOne(view, record, 'jsonl', () => '')).toBe('{"id":"n2","note":"x"}\n');
  });

  test('for people it is its details, which know whether they may be wide', async () => {
    expect(await renderOne(view, record, 'table', (_record, wide) => `wide ${wide}`)).toBe('wide false');
    expect(await renderOne(view, record, 'wide', (_record, wide) => `wide ${wide}`)).toBe('wide true');
  });

  test('fields without text are left out', () => {
    expect(
      fieldList([
        ['id', 'n2'],
        ['note', ''],
        ['status', 'fine'],
      ]),
    ).toBe('id      n2\nstatus  fine\n');
  });
});

describe('times', () => {
  test.each([
    [0, '0s'],
    [59_999, '59s'],
    [125_000, '2m05s'],
    [3 * 3_600_000 + 12 * 60_000, '3h12m'],
    [4 * 86_400_000 + 7 * 3_600_000, '4d07h'],
    [-5, '0s'],
  ])('%i ms are %s', (milliseconds, shown) => {
    expect(duration(milliseconds)).toBe(shown);
  });

  test('a session time without a zone is UTC', () => {
    expect(timeOf('2026-11-21T10:00:00')).toBe(Date.UTC(2026, 10, 21, 10));
    expect(timeOf('2026-11-21T10:00:00.5Z')).toBe(Date.UTC(2026, 10, 21, 10, 0, 0, 500));
    expect(timeOf('2026-11-21T10:00:00+01:00')).toBe(Date.UTC(2026, 10, 21, 9));
    expect(timeOf(null)).toBeUndefined();
    expect(timeOf('soon')).toBeUndefined();
  });
});
