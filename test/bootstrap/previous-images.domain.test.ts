import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
// @ts-expect-error plain JavaScript without types
import { unpackPrevious } from '../../bootstrap/previous-images.mjs';
import { createRepository } from '../support/git-repository.ts';

const SOURCES = {
  '.dockerignore': '*\n!api\n!deploy\ndeploy/chart\n**/node_modules\n',
  'deploy/images/muster/Dockerfile': 'FROM x\n',
  'deploy/chart/muster/Chart.yaml': 'name: muster\n',
  'api/main.ts': 'one',
  'docs/page.md': 'one',
};

describe('the release before this one', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'muster-previous-test-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const unpacked = () => unpackPrevious(join(dir, 'previous'), join(dir, 'checkout')) as string;
  const read = (path: string) => readFileSync(join(dir, 'previous', path), 'utf8');

  test('is the newest commit with other images; one that changed documents alone is none', async () => {
    const repository = await createRepository(join(dir, 'checkout'));
    await repository.commit({ ...SOURCES, 'api/main.ts': 'zero' });
    const commit = await repository.commit(SOURCES);
    await repository.commit({ 'api/main.ts': 'two' });
    await repository.commit({ 'docs/page.md': 'two', 'deploy/chart/muster/values.yaml': '{}' });
    expect(unpacked()).toBe(`commit ${commit.slice(0, 12)}`);
    expect([read('api/main.ts'), read('docs/page.md')]).toEqual(['one', 'one']);
  });

  test('is the last commit where sources have changed since', async () => {
    const repository = await createRepository(join(dir, 'checkout'));
    const commit = await repository.commit(SOURCES);
    writeFileSync(join(dir, 'checkout', 'api', 'main.ts'), 'not committed');
    expect(unpacked()).toBe(`commit ${commit.slice(0, 12)}`);
    expect(read('api/main.ts')).toBe('one');
  });

  test.each([
    ['where nothing was before', [SOURCES], 'its history has no commit with other images'],
    [
      'where there were no images before',
      [{ 'api/main.ts': 'zero' }, SOURCES],
      /^this checkout with a mark: commit [0-9a-f]{12} makes no images$/,
    ],
  ])('is this checkout with a mark %s', async (_name, commits, reason) => {
    const repository = await createRepository(join(dir, 'checkout'));
    for (const files of commits) await repository.commit(files);
    expect(unpacked()).toEqual(expect.stringMatching(reason));
    expect(read('api/main.ts')).toBe('one');
    expect(read('deploy/previous-release')).not.toBe('');
    expect(read('deploy/chart/muster/Chart.yaml')).toBe('name: muster\n');
    expect(existsSync(join(dir, 'previous', 'docs'))).toBe(false);
  });

  test('is this checkout with a mark where it is no repository', () => {
    for (const [path, text] of Object.entries(SOURCES)) {
      mkdirSync(dirname(join(dir, 'checkout', path)), { recursive: true });
      writeFileSync(join(dir, 'checkout', path), text);
    }
    expect(unpacked()).toBe('this checkout with a mark: it has no history');
    expect(read('.dockerignore')).toBe(SOURCES['.dockerignore']);
  });
});
