import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Daemons such as sshd live outside the PATH of ordinary users. */
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/**
 * Path of the first executable of that name on PATH (then in the system folders), or undefined. Starts no process.
 * @param {string} name
 */
export function findOnPath(name) {
  for (const folder of [...(process.env.PATH ?? '').split(delimiter), ...SYSTEM_FOLDERS]) {
    if (!folder) continue;
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return path;
    } catch {}
  }
  return undefined;
}

/**
 * What a short command prints (stdout and stderr together), or undefined when it cannot be run or fails.
 * @param {string} file
 * @param {string[]} args
 */
export function output(file, args) {
  const result = spawnSync(file, args, { encoding: 'utf8', timeout: 20_000 });
  return result.status === 0 ? `${result.stdout}${result.stderr}` : undefined;
}

/**
 * Runs a long command; its last line goes to `onLine`, and the end of its output is in the error when it fails.
 * @param {string} file
 * @param {string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, onLine?: (line: string) => void,
 *   timeoutMs?: number}} options timeoutMs: it is ended when it takes longer
 * @returns {Promise<void>}
 */
export function run(file, args, { cwd, env, onLine, timeoutMs } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, timeout: timeoutMs, stdio: ['ignore', 'pipe', 'pipe'] });
    let tail = '';
    const take = (chunk) => {
      tail = (tail + chunk).slice(-4000);
      const lines = tail.split('\n').filter((text) => text.trim());
      const last = lines.at(-1);
      if (last) onLine?.(last.trim());
    };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    child.on('error', (error) => reject(new Error(`${file} could not be started: ${error.message}`)));
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else if (timeoutMs !== undefined && child.killed)
        reject(new Error(`${[file, ...args].join(' ')} took more than ${timeoutMs / 60_000} min:\n${tail.trimEnd()}`));
      else reject(new Error(`${[file, ...args].join(' ')} ended with ${signal ?? code}:\n${tail.trimEnd()}`));
    });
  });
}
