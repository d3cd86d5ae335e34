import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
// @ts-expect-error plain JavaScript without types
import { copiedPaths, ignoreRules, inputsHash } from '../../../bootstrap/image-inputs.mjs';

describe('what an image is made from', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'image-inputs-'));
    write('.dockerignore', '# text\n*\n!api\n!deploy\ndeploy/chart\n**/__pycache__\n');
    write(
      'deploy/Dockerfile',
      'FROM x\nCOPY --from=y /a /b\nCOPY api \\\n  deploy /opt/\nCOPY --chown=1 api/main.ts ./\n',
    );
    write('api/main.ts', 'one');
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const hash = (...more: string[]) => inputsHash(root, 'deploy/Dockerfile', more);

  test('paths that COPY takes from the checkout, over several lines, without those of other stages', () => {
    expect(copiedPaths('COPY a b /c/\nCOPY --from=s x /y\nCOPY d \\\n  e /f\nRUN COPY\n')).toEqual([
      'a',
      'b',
      'd',
      'e',
    ]);
  });

  test.each([
    ['api/main.ts', false],
    ['api/deep/more.ts', false],
    ['api/__pycache__', true],
    ['deploy/chart', true],
    ['deploy/chart/values.yaml', true],
    ['deploy/charts', false],
    ['secret.env', true],
    ['.git', true],
  ])('%s is left out: %s', (path, left) => {
    expect(ignoreRules(root)(path)).toBe(left);
  });

  test('a change of a file, its name or what else it depends on makes another hash; what is left out does not', () => {
    const before = hash('base');
    write('api/__pycache__/x.pyc', 'x');
    write('deploy/chart/values.yaml', 'x');
    write('secret.env', 'x');
    expect(hash('base')).toBe(before);
    expect(hash('other base')).not.toBe(before);
    write('api/main.ts', 'two');
    const changed = hash('base');
    expect(changed).not.toBe(before);
    write('api/more.ts', '');
    expect(hash('base')).not.toBe(changed);
  });
});
