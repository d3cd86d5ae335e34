import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readFlows } from '../support/kubernetes/network-flows.ts';
import { ROOT } from '../support/source-tree.ts';

test('the table of who talks to whom says what the policies are made from', () => {
  const page = readFileSync(join(ROOT, 'docs', 'kubernetes.md'), 'utf8');
  const [, section = ''] = page.split('## Who talks to whom');
  const [table = ''] = section.split('\n## ');
  const rows = [...table.matchAll(/^\| (.+) \|$/gm)]
    .map(([, row = '']) => row.split('|').map((cell) => cell.trim()))
    .slice(2);
  const { flows, ports, defaults } = readFlows();
  const wanted = flows.map(({ from, to, port, why }) => [
    from,
    to,
    [ports[port] ?? defaults[port]].join().replaceAll(',', ', '),
    why,
  ]);
  expect(rows).toEqual(wanted);
});
