/** `muster plan simulate`, without any server. */
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { simulate } from '../../../domain/propagation/simulate.ts';
import { ROOT } from '../../support/source-tree.ts';
import { cli } from '../../support/stack/command-line.ts';

const LOOP = 'staged: [a.run]\nevents: |\n  on a.run changed b.run\n  on b.run changed a.run\n';
const run = (stdin: string, ...more: string[]) => cli(['plan', 'simulate', '-', ...more], { stdin });

test('answers what the function answers, whatever the result of the plan', async () => {
  const { exit, out } = await run(`${LOOP}outcomes: {b.run: failed}`, '-o', 'json');
  expect(exit).toBe(0);
  const events = 'on a.run changed b.run\non b.run changed a.run';
  expect(JSON.parse(out)).toEqual(simulate({ staged: ['a.run'], events, outcomes: { 'b.run': 'failed' } }));
});

test('takes JSON, lines and objects in a list, and shows rows', async () => {
  const events = ['on a.run changed b.run', { type: 'depends_on', parent: 'a.run', on: 'any', child: 'b.run' }];
  const { exit, out } = await run(JSON.stringify({ staged: ['a.run'], events }), '-o', 'tsv');
  expect([exit, out]).toEqual([0, expect.stringContaining('b.run\treaction\tsuccess\tchanged\t1')]);
  expect((await run(LOOP, '-o', 'name')).out).toBe('a.run#0\nb.run\na.run#1\n');
});

test('shows report, graph and explanation', async () => {
  expect((await run(LOOP)).out).toContain('closed by: b.run -> a.run');
  expect((await run(LOOP, '--graph', 'dot')).out).toContain('closes the loop');
  expect((await run(LOOP, '--graph', 'tree', '--around', 'b.run')).out).toContain('closes the loop: a.run#1');
  expect((await run(LOOP, '--around', 'b.run')).out).toContain('closes the loop: a.run#1');
  expect((await run(LOOP, '--depth', '2')).err).toContain('--depth needs --around');
  expect((await run(LOOP, '--explain', 'b.run')).out).toContain('a.run#0 -> b.run: on a.run changed b.run');
  expect(JSON.parse((await run(LOOP, '--explain', 'b.run', '-o', 'json')).out)).toMatchObject({ node: 'b.run' });
});

test('tells names that no node has', async () => {
  const { exit, err } = await run(`${LOOP}outcomes: {c.run: ok}`);
  expect([exit, err]).toEqual([0, 'warning: no node of the plan is named c.run\n']);
});

test.each([
  ['cycle_not_repeatable', `${LOOP}actions: {a.run: {repeatable: false}}`, 'a.run, b.run'],
  ['unknown_resource', `${LOOP}resources: [a]`, 'leave it out'],
  ['not_supported', `${LOOP}filter: {}`, 'filter'],
  ['bad_request', 'staged: []', 'error: bad_request'],
  ['bad_request', 'events: ""\nstaged: [a]', "'a' is no node"],
  ['usage', `${LOOP}---\n${LOOP}`, '2 documents'],
  ['usage', '- 1', 'is not an object'],
  ['usage', '{', '`{` of line 1 is not closed'],
  ['usage', 'a: b: c', 'neither JSON nor YAML'],
])('refuses with %s and exit status 2', async (code, file, said) => {
  const { exit, err, out } = await run(file);
  expect([exit, out]).toEqual([2, '']);
  expect(err).toContain(`error: ${code}: `);
  expect(err).toContain(said);
});

test('prints a line for each of several mistakes', async () => {
  const { exit, err } = await run('staged: []\nevents: |\n  on a.run odd b.run\n  when\n');
  expect(exit).toBe(2);
  expect(err).toContain('\n  line 1, column 10: event_condition: ');
  expect(err).toContain('\n  line 2, column 1: event_syntax: ');
});

test('does not unfold a file that would become as large as any memory', async () => {
  const levels = Array.from({ length: 12 }, (_, level) => {
    const items = level === 0 ? ['x'] : Array.from({ length: 10 }, () => `*l${level - 1}`);
    return `l${level}: &l${level} [${items.join(', ')}]`;
  });
  const { exit, err } = await run(`${levels.join('\n')}\nstaged: *l11\nevents: ""`);
  expect([exit, err]).toEqual([2, expect.stringContaining('stdin cannot be read: Excessive alias count')]);
});

test.each(globSync('examples/propagation/*/simulate.yaml', { cwd: ROOT }))(
  '%s is a plan that succeeds',
  async (file) => {
    const { exit, out, err } = await cli(['plan', 'simulate', join(ROOT, file)]);
    expect([exit, err, dirname(file)]).toEqual([0, '', dirname(file)]);
    expect(out).toContain('Result: succeeded');
  },
);
