import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
// @ts-expect-error plain JavaScript without types
import { copiedPaths } from '../../bootstrap/image-inputs.mjs';
import { ROOT } from '../support/source-tree.ts';

const DOCKERFILE = 'deploy/images/muster/Dockerfile';

/** Files that the build loads at its start, from the first one on. */
function loaded(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  const text = readFileSync(join(ROOT, path), 'utf8');
  for (const [, next = ''] of text.matchAll(/^import .* from '(\.[^']+)';$/gm)) {
    loaded(relative(ROOT, join(ROOT, dirname(path), next)), seen);
  }
  return seen;
}

test('the stage of the image that builds the web UI has each file that the build loads', () => {
  const [, stage = ''] = /^FROM \S+ AS web$([\s\S]*?)^FROM /m.exec(readFileSync(join(ROOT, DOCKERFILE), 'utf8')) ?? [];
  const copied: string[] = copiedPaths(stage);
  expect(copied).toContain('web');
  const files = [...loaded('deploy/stack/build-web.ts')];
  expect(files).toContain('deploy/stack/web-files.ts');
  expect(files.filter((path) => !copied.includes(path))).toEqual([]);
});
