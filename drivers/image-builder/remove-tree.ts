import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { LEASH, PROGRAM_PATH } from './room.ts';

const run = promisify(execFile);

/**
 * Removes whatever is at a path, links themselves and not what they lead to; harmless when nothing is there. A login can make folders
 * deeper than any path may be long: the program goes down step by step, which Node's own `rm` does not.
 */
export async function removeTree(path: string): Promise<void> {
  // It ends with us, so that it never removes what the next worker makes in the same place.
  const [program = 'rm', ...words] = [...LEASH, 'rm', '-rf', '--', path];
  await run(program, words, { env: { PATH: PROGRAM_PATH, LC_ALL: 'C' } });
}
