import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/**
 * Returns the commit from which the program in a folder was made: `gitHead` of its package.json, as builds of images write it, else that of
 * the checkout. Empty where nothing says so.
 */
export async function sourceCommit(root: string, gitHead: unknown): Promise<string> {
  if (typeof gitHead === 'string' && gitHead !== '') return gitHead;
  // A folder inside of another checkout is none itself.
  if (!existsSync(join(root, '.git'))) return '';
  const asked = await execute('git', ['-C', root, 'rev-parse', 'HEAD'], { timeout: 2_000 }).catch(() => null);
  return asked?.stdout.trim() ?? '';
}
