/** `muster operator validate` as a process, with the environment and the folder that it is started in. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { processEnvironment } from '../../support/stack/process-environment.ts';

const MAIN = join(import.meta.dirname, '../../../cli/main.ts');

test('reads the file of the current folder with the environment of the process', async () => {
  const home = mkdtempSync(join(tmpdir(), 'muster-home-'));
  try {
    mkdirSync(join(home, 'shared', 'db'), { recursive: true });
    writeFileSync(
      join(home, 'watches.yaml'),
      '- {group: demo.io, version: v1, kind: $KIND, role: db, markUnsafe: true}\n',
    );
    const ended = await new Promise<{ code: number; out: string }>((resolve) => {
      const env = {
        ...processEnvironment(),
        KIND: 'Db',
        ANSIBLE_ROLES_PATH: 'shared',
        ANSIBLE_VERBOSITY_DB_DEMO_IO: '5',
      };
      execFile(process.execPath, [MAIN, 'operator', 'validate', '-o', 'json'], { cwd: home, env }, (error, out) =>
        resolve({ code: error === null ? 0 : Number(error.code), out }),
      );
    });
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.out)).toMatchObject({
      valid: true,
      entries: [{ kind: 'Db', role: join(home, 'shared', 'db'), verbosity: 5 }],
      errors: [],
      warnings: [],
    });
  } finally {
    rmSync(home, { recursive: true });
  }
});
