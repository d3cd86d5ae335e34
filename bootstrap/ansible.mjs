import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { ROOT } from './settings.mjs';
import { hashOf, isWhole, makeVenv, pipInstall, venvFolder } from './venv.mjs';

const REQUIREMENTS = join(ROOT, 'ansible', 'requirements.txt');
const TEST_REQUIREMENTS = join(ROOT, 'ansible', 'requirements-test.txt');

/**
 * Folder of the Ansible venv when it is complete (with the test packages if asked), else undefined. Starts no process.
 * @param {{tests?: boolean}} [options]
 */
export function installedAnsible({ tests = false } = {}) {
  const folder = ansibleFolder();
  return isWhole(folder) && (!tests || existsSync(testStamp(folder))) ? folder : undefined;
}

/**
 * Makes the venv when it is missing.
 * @param {string | undefined} python interpreter to make it with; may be undefined when the venv exists
 * @param {{tests?: boolean}} [options]
 * @returns {Promise<string>} the venv's folder
 */
export async function ensureAnsible(python, { tests = false } = {}) {
  const ready = installedAnsible({ tests });
  if (ready) return ready;
  const folder = ansibleFolder();
  return withLock(
    `ansible ${folder}`,
    async () => {
      if (!installedAnsible())
        await step('Installing Ansible', (onDetail) => makeVenv(folder, python, REQUIREMENTS, onDetail));
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

function ansibleFolder() {
  return venvFolder('ansible', REQUIREMENTS);
}

function testStamp(folder) {
  return join(folder, `.complete-tests-${hashOf(TEST_REQUIREMENTS)}`);
}
