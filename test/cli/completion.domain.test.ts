/** What a shell is offered, by the words so far. */
import { expect, test } from '@jest/globals';
import { candidates } from '../../cli/commands/service/candidates.ts';
import { commandTree } from '../support/docs/command-tree.ts';

const KNOWN: Readonly<Record<string, string[]>> = {
  session: ['nightly', 'nightly-2', 'web-1'],
  component: ['n1', 'n2', 'x1'],
  configuration: ['web', 'database'],
  context: ['prod', 'test'],
  batch: ['b-1', 'b-2'],
  rollout: ['web'],
  repository: ['site', 'lab'],
  resource: ['db', 'web'],
  plan: ['0a-plan'],
  change: ['c-1'],
  image: ['base'],
  cluster: ['east+one'],
  deployment: ['telemetry'],
  operator: ['site-operator'],
  'operator-kind': ['Memcached'],
};
const asked: [string, string | undefined][] = [];
const offered = async (...words: string[]) => {
  asked.length = 0;
  const names = async (kind: string, url: string | undefined, before: readonly string[]) => {
    asked.push([kind, url]);
    // Resources of operators are those of the kind that was written before.
    return kind === 'operator-resource' ? [`default/${before[0]}-1`] : (KNOWN[kind] ?? []);
  };
  return (await candidates(commandTree(), words, names)).map(({ word }) => word);
};

test('nouns and verbs, without what no person sees', async () => {
  expect(await offered('se')).toEqual(['session', 'secret']);
  expect(await offered('')).not.toContain('complete');
  expect(await offered('session', 'ca')).toEqual(['cancel']);
  expect(await offered('-o', 'json', 'session', 'ca')).toEqual(['cancel']);
});

test('flags of the verb and of the whole command line', async () => {
  expect(await offered('session', 'run', '--debug')).toEqual(['--debug-on-failure']);
  expect(await offered('session', 'list', '--no-')).toEqual(['--no-headers', '--no-input']);
  expect(await offered('session', 'list', '--dry-run-')).toEqual([]);
});

test('words that are fixed', async () => {
  expect(await offered('session', 'list', '-o', 'js')).toEqual(['json', 'jsonl']);
  expect(await offered('session', 'list', '--output', '=', 'js')).toEqual(['json', 'jsonl']);
  expect(await offered('session', 'list', '--output', '=')).toContain('yaml');
  expect(await offered('component', 'list', '--status', 'f')).toEqual(['failed']);
  expect(await offered('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  expect(await offered('--color', '')).toEqual(['auto', 'always', 'never']);
});

test('names of records, of the server that the words name', async () => {
  expect(await offered('session', 'get', 'nig')).toEqual(['nightly', 'nightly-2']);
  expect(await offered('session', 'get', 'nightly', '')).toEqual([]);
  expect(await offered('session', 'delete', 'nightly', 'w')).toEqual(['web-1']);
  expect(await offered('session', 'run', '--configuration', 'w')).toEqual(['web']);
  expect(await offered('component', 'set', '--config', '')).toEqual(['web', 'database']);
  expect(await offered('drift', 'check', 'n')).toEqual(['n1', 'n2']);
  expect(await offered('--url', 'http://a', 'session', 'get', '')).toHaveLength(3);
  expect(asked).toEqual([['session', 'http://a']]);
});

test('names of another context are not those of this one', async () => {
  expect(await offered('--context', 'te')).toEqual(['test']);
  expect(await offered('session', 'get', '--context', 'test', '')).toEqual([]);
  expect(asked).toEqual([]);
});

test('a flag without a value takes no word away', async () => {
  expect(await offered('session', 'wait', '--timeout', '5', 'nig')).toEqual(['nightly', 'nightly-2']);
  expect(await offered('component', 'disable', '--dry-run', 'x')).toEqual(['x1']);
});

test.each<[string[], string[]]>([
  [
    ['batch', 'get', ''],
    ['b-1', 'b-2'],
  ],
  [['rollout', 'stop', ''], ['web']],
  [['repository', 'get', 's'], ['site']],
  [
    ['repository', 'remove', 'lab', ''],
    ['site', 'lab'],
  ],
  [
    ['resource', 'stage', ''],
    ['db', 'web'],
  ],
  [['resource', 'stage', 'db', ''], []],
  [
    ['connection', 'add', 'db', ''],
    ['db', 'web'],
  ],
  [['connection', 'list', '--emitter', 'd'], ['db']],
  [
    ['event', 'list', '--parent', ''],
    ['db', 'web'],
  ],
  [['plan', 'get', ''], ['0a-plan']],
  [['plan', 'retry', '0a-plan', ''], []],
  [['change', 'stage', 'd'], ['db']],
  [['change', 'discard', ''], ['c-1']],
  [['image', 'delete', ''], ['base']],
  [['image', 'import', ''], []],
  [['cluster', 'get', ''], ['east+one']],
  [['deployment', 'status', 'd', '--cluster', ''], ['east+one']],
  [['deployment', 'terminate', 't'], ['telemetry']],
  [['operator', 'list', '--operator', ''], ['site-operator']],
  [['operator', 'list', '--kind', ''], ['Memcached']],
  [['operator', 'get', ''], ['Memcached']],
  [['operator', 'get', 'Memcached', ''], ['default/Memcached-1']],
  [['operator', 'reconcile-get', ''], []],
  [['schedule', 'create', ''], []],
  [
    ['schedule', 'create', 'x', '--session', ''],
    ['web', 'database'],
  ],
  [
    ['session', 'run', '--limit', 'n'],
    ['n1', 'n2'],
  ],
  [['secret', 'delete', 'web', ''], []],
])('names of the kind that the place is for: %j', async (words, expected) => {
  expect(await offered(...words)).toEqual(expected);
});
