import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './commands.mjs';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { CACHE_DIR, ROOT } from './settings.mjs';

const REQUIREMENTS = join(ROOT, 'ansible', 'requirements.txt');
const TEST_REQUIREMENTS = join(ROOT, 'ansible', 'requirements-test.txt');

/**
 * Folder of the Ansible venv when it is complete (with the test packages if asked), else undefined. Starts no process:
 * the stamp names the interpreter the venv was made with, and a venv whose interpreter was replaced counts as missing.
 * @param {{tests?: boolean}} [options]
 */
export function installedAnsible({ tests = false } = {}) {
  const folder = venvFolder();
  try {
    const stamp = JSON.parse(readFileSync(join(folder, '.complete'), 'utf8'));
    if (realpathSync(join(folder, 'bin', 'python')) !== stamp.python) return undefined;
    return tests && !existsSync(testStamp(folder)) ? undefined : folder;
  } catch {
    return undefined;
  }
}

/**
 * Makes the venv when it is missing. It is made in place, because a venv cannot be moved; the stamp written last tells a
 * whole one from a half-made one.
 * @param {string | undefined} python interpreter to make it with; may be undefined when the venv exists
 * @param {{tests?: boolean}} [options]
 * @returns {Promise<string>} the venv's folder
 */
export async function ensureAnsible(python, { tests = false } = {}) {
  const ready = installedAnsible({ tests });
  if (ready) return ready;
  const folder = venvFolder();
  return withLock(
    `ansible ${folder}`,
    async () => {
      if (!installedAnsible()) await step('Installing Ansible', (onDetail) => makeVenv(folder, python, onDetail));
      if (tests && !installedAnsible({ tests })) {
        await step('Installing the Python test packages', async (onDetail) => {
          await pipInstall(folder, TEST_REQUIREMENTS, onDetail);
          writeFileSync(testStamp(folder), '');
        });
      }
      return folder;
    },
    (text) => process.stderr.write(`  Ansible: ${text}\n`),
  );
}

function venvFolder() {
  return join(CACHE_DIR, `ansible-${hashOf(REQUIREMENTS)}`);
}

function testStamp(folder) {
  return join(folder, `.complete-tests-${hashOf(TEST_REQUIREMENTS)}`);
}

function hashOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 12);
}

async function makeVenv(folder, python, onDetail) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(CACHE_DIR, { recursive: true });
  onDetail('creating the venv');
  await run(python, ['-m', 'venv', folder]);
  await pipInstall(folder, REQUIREMENTS, onDetail);
  writeFileSync(join(folder, '.complete'), JSON.stringify({ python: realpathSync(join(folder, 'bin', 'python')) }));
}

function pipInstall(folder, requirements, onDetail) {
  const args = ['-m', 'pip', 'install', '--no-input', '--disable-pip-version-check', '--progress-bar=off', '-r'];
  return run(join(folder, 'bin', 'python'), [...args, requirements], { onLine: onDetail });
}
