import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
// @ts-expect-error plain JavaScript without types
import { unpackPrevious } from '../../../bootstrap/previous-images.mjs';
import { createRepository } from '../../support/git/git-repository.ts';

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
  const unpacked = (base?: string) => unpackPrevious(join(dir, 'previous'), join(dir, 'checkout'), base) as string;
  const read = (path: string) => readFileSync(join(dir, 'previous', path), 'utf8');
  const tag = (name: string, commit: string) => execFileSync('git', ['-C', join(dir, 'checkout'), 'tag', name, commit]);

  test('is the newest tag; one of this commit itself is none', async () => {
    const repository = await createRepository(join(dir, 'checkout'));
    tag('v1', await repository.commit({ ...SOURCES, 'api/main.ts': 'zero' }));
    const commit = await repository.commit(SOURCES);
    tag('v2', commit);
    await repository.commit({ 'api/main.ts': 'two' });
    tag('v3', await repository.commit({ 'docs/page.md': 'two' }));
    expect(unpacked()).toBe(`commit ${commit.slice(0, 12)}`);
    expect([read('api/main.ts'), read('docs/page.md')]).toEqual(['one', 'one']);
  });

  test('is one certain commit before the first tag', async () => {
    const repository = await createRepository(join(dir, 'checkout'));
    await repository.commit({ ...SOURCES, 'api/main.ts': 'zero' });
    const commit = await repository.commit(SOURCES);
    await repository.commit({ 'api/main.ts': 'two' });
    writeFileSync(join(dir, 'checkout', 'api', 'main.ts'), 'not committed');
    expect(unpacked(commit)).toBe(`commit ${commit.slice(0, 12)}`);
    expect(read('api/main.ts')).toBe('one');
  });

  test('is this checkout with a mark where its history has no release', async () => {
    const repository = await createRepository(join(dir, 'checkout'));
    await repository.commit(SOURCES);
    expect(unpacked()).toBe('this checkout with a mark: its history has no release');
    expect(read('api/main.ts')).toBe('one');
    expect(read('deploy/previous-release')).not.toBe('');
    expect(read('deploy/chart/muster/Chart.yaml')).toBe('name: muster\n');
    expect(existsSync(join(dir, 'previous', 'docs'))).toBe(false);
  });

  test('is this checkout with a mark where that release made no images', async () => {
    const repository = await createRepository(join(dir, 'checkout'));
    const commit = await repository.commit({ 'api/main.ts': 'zero' });
    await repository.commit(SOURCES);
    expect(unpacked(commit)).toBe(`this checkout with a mark: commit ${commit.slice(0, 12)} makes no images`);
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
