import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { ROOT } from './settings.mjs';
import { isWhole, makeVenv, venvFolder } from './venv.mjs';

const REQUIREMENTS = join(ROOT, 'test', 'fuzz', 'requirements.txt');

/** Path of the program that makes requests of the API documents, or undefined when it is not installed. */
export function installedSchemathesis() {
  const folder = venvFolder('schemathesis', REQUIREMENTS);
  return isWhole(folder) ? join(folder, 'bin', 'schemathesis') : undefined;
}

/**
 * Installs it when it is missing.
 * @param {string | undefined} python interpreter to make the venv with; may be undefined when it is there
 * @returns {Promise<string>} path of the program
 */
export async function ensureSchemathesis(python) {
  const folder = venvFolder('schemathesis', REQUIREMENTS);
  const program = join(folder, 'bin', 'schemathesis');
  if (isWhole(folder)) return program;
  return withLock(
    `schemathesis ${folder}`,
    async () => {
      if (!isWhole(folder)) {
        await step('Installing schemathesis', (onDetail) => makeVenv(folder, python, REQUIREMENTS, onDetail));
      }
      return program;
    },
    (text) => process.stderr.write(`  schemathesis: ${text}\n`),
  );
}
