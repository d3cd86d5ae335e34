/** Cells of CSV: no formula, and one cell each. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { csvCell } from '../../domain/components/component-csv.ts';

test.each([
  ['n1', 'n1'],
  ['', ''],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@sum', "'@sum"],
  ['\tx', "'\tx"],
  ['a,b', '"a,b"'],
  ['say "x"', '"say ""x"""'],
  ['=a,b', `"'=a,b"`],
])('%j is %j', (text, cell) => expect(csvCell(text)).toBe(cell));

test('any text is read back from its cell, maybe behind an apostrophe, and begins no formula', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'=+-@\t\r\n",\'a') }), (text) => {
      const cell = csvCell(text);
      const isQuoted = cell.startsWith('"');
      const read = isQuoted ? cell.slice(1, -1).replaceAll('""', '"') : cell;
      expect([text, `'${text}`]).toContain(read);
      expect(read).not.toMatch(/^[=+\-@\t\r]/);
      if (!isQuoted) expect(cell).not.toMatch(/[",\r\n]/);
    }),
  );
});
