import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { ROOT } from './settings.mjs';
import { hashOf, isWhole, makeVenv, pipInstall, venvFolder } from './venv.mjs';

const REQUIREMENTS = join(ROOT, 'ansible', 'requirements.txt');
const ARA_REQUIREMENTS = join(ROOT, 'ansible', 'requirements-ara.txt');
const TEST_REQUIREMENTS = join(ROOT, 'ansible', 'requirements-test.txt');

/**
 * Folder of the Ansible venv when it is complete (with the test packages if asked, and with what reports to ARA where a
 * server is configured), else undefined. Starts no process.
 * @param {{tests?: boolean}} [options]
 */
export function installedAnsible({ tests = false } = {}) {
  const folder = ansibleFolder();
  const whole = isWhole(folder) && (!tests || existsSync(testStamp(folder)));
  return whole && (tests || !reportsToAra() || existsSync(araStamp(folder))) ? folder : undefined;
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
      if (!isWhole(folder))
        await step('Installing Ansible', (onDetail) => makeVenv(folder, python, REQUIREMENTS, onDetail));
      if (!tests && reportsToAra() && !existsSync(araStamp(folder))) {
        await step('Installing what reports to ARA', async (onDetail) => {
          await pipInstall(folder, ARA_REQUIREMENTS, onDetail, ['--no-deps']);
          writeFileSync(araStamp(folder), '');
        });
      }
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

function reportsToAra() {
  return Boolean(process.env.MUSTER_ARA_SERVER_URL);
}

function araStamp(folder) {
  return join(folder, `.complete-ara-${hashOf(ARA_REQUIREMENTS)}`);
}

function testStamp(folder) {
  return join(folder, `.complete-tests-${hashOf(TEST_REQUIREMENTS)}`);
}
