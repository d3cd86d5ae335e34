import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './commands.mjs';
import { CACHE_DIR } from './settings.mjs';

/**
 * Folder in the cache of a venv with these requirements.
 * @param {string} name
 * @param {string} requirements path of the file
 */
export function venvFolder(name, requirements) {
  return join(CACHE_DIR, `${name}-${hashOf(requirements)}`);
}

/**
 * Whether a venv is complete. Starts no process: the stamp names the interpreter it was made with, and a venv whose
 * interpreter was replaced counts as missing.
 * @param {string} folder
 */
export function isWhole(folder) {
  try {
    const stamp = JSON.parse(readFileSync(join(folder, '.complete'), 'utf8'));
    return realpathSync(join(folder, 'bin', 'python')) === stamp.python;
  } catch {
    return false;
  }
}

/**
 * Makes a venv in place, because it cannot be moved; the stamp written last tells a whole one from a half-made one.
 * @param {string} folder
 * @param {string} python interpreter to make it with
 * @param {string} requirements path of the file
 * @param {(detail: string) => void} onDetail
 */
export async function makeVenv(folder, python, requirements, onDetail) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(CACHE_DIR, { recursive: true });
  onDetail('creating the venv');
  await run(python, ['-m', 'venv', folder]);
  await pipInstall(folder, requirements, onDetail);
  writeFileSync(join(folder, '.complete'), JSON.stringify({ python: realpathSync(join(folder, 'bin', 'python')) }));
}

/** Installs more packages into a venv; `options` are pip's own. */
export function pipInstall(folder, requirements, onDetail, options = []) {
  const args = ['-m', 'pip', 'install', '--no-input', '--disable-pip-version-check', '--progress-bar=off', '-r'];
  return run(join(folder, 'bin', 'python'), [...args, requirements, ...options], { onLine: onDetail });
}

/** Short hash of a file's content. */
export function hashOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 12);
}
