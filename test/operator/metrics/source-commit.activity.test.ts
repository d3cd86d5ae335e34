/** From which commit the metrics say that a program was made. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { sourceCommit } from '../../../worker/operator/source-commit.ts';
import { createRepository } from '../../support/git/git-repository.ts';

const folder = mkdtempSync(join(tmpdir(), 'muster-commit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('it is the one that a build has written, else that of the checkout, and none of a folder in a checkout of something else', async () => {
  const repository = await createRepository(folder);
  const commit = await repository.commit({ 'package.json': '{}' });
  expect(await sourceCommit(folder, undefined)).toBe(commit);
  expect(await sourceCommit(folder, 'abc')).toBe('abc');
  const inside = join(folder, 'node_modules', 'muster');
  mkdirSync(inside, { recursive: true });
  expect(await sourceCommit(inside, undefined)).toBe('');
});
