import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { isLfsPointer, readLfsFailure } from '../../domain/configurations/lfs.ts';
import { readGitmodules, submoduleUrl } from '../../domain/configurations/submodules.ts';

/** Pods follow the same rules in Python: ansible/tests/test_pod_git_rules.py reads this file too. */
const VECTORS = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'git-vectors.json'), 'utf8')) as {
  submodule_urls: [string, string, string | null][];
  gitmodules: [string, Record<string, string>][];
  lfs_pointers: [string, boolean][];
  lfs_failures: [string, string, string][];
};

test.each(VECTORS.submodule_urls)('of %s, the submodule %s is at %s', (parent, url, expected) => {
  const read = () => submoduleUrl(parent, url);
  if (expected !== null) expect(read()).toBe(expected);
  else expect(read).toThrow(expect.objectContaining({ code: 'repository_url_refused' }));
});

test.each(VECTORS.gitmodules)('of .gitmodules only paths and addresses are read: %j', (output, expected) => {
  expect(Object.fromEntries(readGitmodules(output))).toEqual(expected);
});

test.each(VECTORS.lfs_pointers)('a pointer of git-lfs is known: %j: %s', (text, expected) => {
  expect(isLfsPointer(text)).toBe(expected);
});

test.each(VECTORS.lfs_failures)('git-lfs says %j: %s', (stderr, code, line) => {
  expect(readLfsFailure(stderr)).toEqual({ code, line });
});
