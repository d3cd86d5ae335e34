import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './commands.mjs';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { ROOT } from './settings.mjs';
import { hashOf, pipInstall } from './venv.mjs';

/** The same lists as those of the image `aee`, so that playbooks find the same here and there. */
const FOLDER = join(ROOT, 'deploy', 'images', 'aee');
const LIST = join(FOLDER, 'collections.txt');
const REQUIREMENTS = join(FOLDER, 'collection-requirements.txt');
const UNPACK = join(FOLDER, 'unpack-collections.py');
/** A machine without network is not kept waiting at each start. */
const HASTE = ['--timeout=10', '--retries=1'];

/**
 * Installs Ansible's collections into its venv unless they are there. The stack works without them, but for playbooks that use them: a
 * failure is told and the next start tries again.
 * @param {string} venv
 * @returns {Promise<boolean>} whether they are there
 */
export async function ensureCollections(venv) {
  if (existsSync(stampOf(venv))) return true;
  try {
    await withLock(
      `ansible ${venv}`,
      async () => {
        if (existsSync(stampOf(venv))) return;
        await step("Installing Ansible's collections", async (onDetail) => {
          await pipInstall(venv, REQUIREMENTS, onDetail, HASTE);
          await run(join(venv, 'bin', 'python'), [UNPACK, LIST, venv, ...HASTE], { onLine: onDetail });
          writeFileSync(stampOf(venv), '');
        });
      },
      (text) => process.stderr.write(`  Ansible's collections: ${text}\n`),
    );
    return true;
  } catch (error) {
    const [reason] = error.message.split('\n').slice(-1);
    process.stderr.write(
      `! Ansible's collections (community.general and others) could not be installed: ${reason}\n` +
        '  Playbooks that use them fail until a later start has installed them.\n',
    );
    return false;
  }
}

function stampOf(venv) {
  return join(venv, `.complete-collections-${[LIST, REQUIREMENTS, UNPACK].map((file) => hashOf(file)).join('-')}`);
}
