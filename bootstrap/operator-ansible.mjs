import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './commands.mjs';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { ROOT } from './settings.mjs';
import { hashOf, isWhole, makeVenv, venvFolder } from './venv.mjs';

const REQUIREMENTS = join(ROOT, 'ansible', 'requirements-operator.txt');
const LIST = join(ROOT, 'ansible', 'collections', 'operator.txt');
const UNPACK = join(ROOT, 'deploy', 'images', 'aee', 'unpack-collections.py');
/** Muster's own collection. */
const OWN = join(ROOT, 'ansible', 'operator_sdk');

/** Folder of the venv of operators when it is complete, with its collections, else undefined. Starts no process. */
export function installedOperatorAnsible() {
  const folder = operatorFolder();
  return isWhole(folder) && existsSync(stampOf(folder)) ? folder : undefined;
}

/**
 * Makes the venv of operators when it is missing: Ansible, ansible-runner, the collection kubernetes.core, and Muster's own
 * `operator_sdk.util`. The venv of sessions is not touched.
 * @param {string | undefined} python interpreter to make it with; may be undefined when the venv exists
 * @returns {Promise<string>} the venv's folder
 */
export async function ensureOperatorAnsible(python) {
  const ready = installedOperatorAnsible();
  if (ready) return ready;
  const folder = operatorFolder();
  return withLock(
    `ansible ${folder}`,
    async () => {
      if (!isWhole(folder)) {
        await step('Installing Ansible for operators', (onDetail) => makeVenv(folder, python, REQUIREMENTS, onDetail));
      }
      if (!existsSync(stampOf(folder))) {
        await step('Installing collections for operators', async (onDetail) => {
          await run(join(folder, 'bin', 'python'), [UNPACK, LIST, folder], { onLine: onDetail });
          copyOwn(folder);
          writeFileSync(stampOf(folder), '');
        });
      }
      return folder;
    },
    (text) => process.stderr.write(`  Ansible for operators: ${text}\n`),
  );
}

/** Below `site-packages` a copy of the user's, on the collections path, comes first. */
function copyOwn(folder) {
  const lib = join(folder, 'lib');
  const [python] = readdirSync(lib).filter((name) => name.startsWith('python3'));
  const target = join(lib, python, 'site-packages', 'ansible_collections', 'operator_sdk');
  rmSync(target, { recursive: true, force: true });
  cpSync(OWN, target, { recursive: true, filter: (path) => !path.endsWith('__pycache__') });
}

function operatorFolder() {
  return venvFolder('operator', REQUIREMENTS);
}

function stampOf(folder) {
  return join(folder, `.complete-collections-${[hashOf(LIST), hashOf(UNPACK), hashOfOwn()].join('-')}`);
}

function hashOfOwn() {
  const files = readdirSync(OWN, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.pyc'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const hash = createHash('sha256');
  for (const file of files) hash.update(file.slice(OWN.length)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex').slice(0, 12);
}
