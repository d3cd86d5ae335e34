import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { firstStep, WAITS_FOR_CLUSTER } from '../../domain/sessions/cluster/cluster-wait.ts';
import { ROOT, readSourceTree } from '../support/source-tree.ts';
import { FIXED_SENTENCES } from './progress-sentences.ts';

const SOURCES = readSourceTree()
  .filter(({ path }) => /^(workflows|activities|control|domain|store)\/sessions\//.test(path))
  .map(({ path }) => readFileSync(join(ROOT, path), 'utf8'))
  .join('\n');

test('a session on a cluster waits first', () => {
  const sessions = { muster: { runner: 'kubernetes' }, target: { definition: 'dynamic' } } as const;
  expect([WAITS_FOR_CLUSTER.phase, WAITS_FOR_CLUSTER.message]).toEqual(FIXED_SENTENCES.cluster);
  expect(firstStep(sessions)).toEqual(WAITS_FOR_CLUSTER);
});

test.each(Object.entries(FIXED_SENTENCES).filter(([step]) => step !== 'cluster'))('%s: %p', (_, [phase, message]) => {
  expect(SOURCES).toMatch(new RegExp(`phase: '${phase}',[^}]*?message: '${message}'`));
});
