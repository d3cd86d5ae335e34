import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { ROOT } from './settings.mjs';
import { isWhole, makeVenv, venvFolder } from './venv.mjs';

/**
 * Programs in Python that only tests start, each in a venv of its own, by the variable in which tests find its path: what makes
 * requests of the API documents, and what makes a client of them.
 * @type {Record<string, {program: string, requirements: string}>}
 */
export const PYTHON_TOOLS = {
  MUSTER_TEST_SCHEMATHESIS: {
    program: 'schemathesis',
    requirements: join(ROOT, 'test', 'fuzz', 'requirements.txt'),
  },
  MUSTER_TEST_CLIENT_GENERATOR: {
    program: 'openapi-python-client',
    requirements: join(ROOT, 'test', 'api', 'python-client', 'requirements.txt'),
  },
};

/** Whether all of them are installed. */
export function installedPythonTools() {
  return Object.values(PYTHON_TOOLS).every((tool) => isWhole(folderOf(tool)));
}

/**
 * Installs those that are missing.
 * @param {string | undefined} python interpreter to make the venvs with; may be undefined when all are there
 * @returns {Promise<Record<string, string>>} path of each program, by its variable
 */
export async function ensurePythonTools(python) {
  const found = {};
  for (const [variable, tool] of Object.entries(PYTHON_TOOLS)) found[variable] = await ensure(tool, python);
  return found;
}

async function ensure(tool, python) {
  const folder = folderOf(tool);
  const program = join(folder, 'bin', tool.program);
  if (isWhole(folder)) return program;
  return withLock(
    `${tool.program} ${folder}`,
    async () => {
      if (!isWhole(folder)) {
        await step(`Installing ${tool.program}`, (onDetail) => makeVenv(folder, python, tool.requirements, onDetail));
      }
      return program;
    },
    (text) => process.stderr.write(`  ${tool.program}: ${text}\n`),
  );
}

function folderOf({ program, requirements }) {
  return venvFolder(program, requirements);
}
