import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ROOT } from '../../support/source-tree.ts';
import { saysLeftOpen, watchedRun } from '../../watched-run.ts';

const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-watched-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test.each([
  ['A worker process has failed to exit gracefully and has been force exited. This is likely caused by', true],
  ['\u001b[33mA worker process has failed to exit gracefully and has been force exited.\u001b[39m', true],
  ['  ✓ the line "A worker process has failed to exit gracefully"', false],
  ['PASS workflow test/sessions/end/session.workflow.test.ts', false],
  ['', false],
])('the line %j says that something was left open: %s', (line, says) => {
  expect(saysLeftOpen(line)).toBe(says);
});

test.each([
  ['leaves a timer', 'setInterval(() => {}, 1000);', true],
  ['leaves nothing', '', false],
])(
  'Jest with a file that %s is told of so, and its output is passed on',
  async (_what, leak, leftOpen) => {
    for (const name of ['a', 'b']) {
      writeFileSync(join(dir, `${name}.test.js`), `test('${name}', () => { ${name === 'a' ? leak : ''} });\n`);
    }
    const config = { rootDir: dir, maxWorkers: 2, watchman: false, workerGracefulExitTimeout: leftOpen ? 200 : 20_000 };
    writeFileSync(join(dir, 'jest.config.json'), JSON.stringify(config));
    const path = join(dir, 'output');
    const output = openSync(path, 'w');
    const args = [JEST, '--config', join(dir, 'jest.config.json'), '--maxWorkers=2', '--no-cache'];
    try {
      expect(await watchedRun(process.execPath, args, ROOT, output)).toEqual({ status: 0, leftOpen });
    } finally {
      closeSync(output);
    }
    expect(readFileSync(path, 'utf8')).toContain('2 passed');
  },
  180_000,
);

test('a process that a tool leaves working, with its output open, is not waited for', async () => {
  const path = join(dir, 'output');
  const output = openSync(path, 'w');
  const pidFile = join(dir, 'pid');
  try {
    const left = `sleep 600 & echo $! > ${pidFile}; echo said`;
    expect(await watchedRun('/bin/sh', ['-c', left], ROOT, output)).toEqual({ status: 0, leftOpen: false });
  } finally {
    closeSync(output);
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
  }
  expect(readFileSync(path, 'utf8')).toBe('said\n');
});
