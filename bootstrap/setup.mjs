import { join } from 'node:path';
import { ensureAnsible } from './ansible.mjs';
import {
  API_SERVER_PROGRAMS,
  canBuildClusterPrograms,
  clusterProgramsFolder,
  missingClusterPrograms,
} from './cluster-programs.mjs';
import { ensureCollections } from './collections.mjs';
import { runtimeEnvironment } from './installed-node.mjs';
import { ensureNodeModules } from './node-modules.mjs';
import { ensureOperatorAnsible } from './operator-ansible.mjs';
import { checkPrerequisites } from './prerequisites.mjs';
import { ensurePythonTools } from './python-tools.mjs';
import { ensureTemporal } from './temporal.mjs';
import { ensureTestServer, installedTestServer } from './test-server.mjs';

/**
 * Installs what is missing for one task and answers how to run it.
 * @param {{tests?: boolean, operator?: boolean}} [options] tests: also what only the tests need, and Temporal even if an address is set;
 * operator: what an operator needs; where it is given servers, in place of what sessions need
 * @returns {Promise<{node: string, env: NodeJS.ProcessEnv}>} Node 24, and the environment that names what was installed
 */
export async function setUp({ tests = false, operator = false } = {}) {
  const temporal = tests || !process.env.MUSTER_TEMPORAL_ADDRESS;
  // Beside an operator that is given no servers there is a whole stack.
  const isWhole = !operator || !(process.env.MUSTER_DATABASE_URL || process.env.MUSTER_TEMPORAL_ADDRESS);
  const ansible = tests || (isWhole && !process.env.MUSTER_ANSIBLE_BIN_DIR);
  const ownRunner = operator && !process.env.MUSTER_ANSIBLE_RUNNER;
  const { python, notes } = await checkPrerequisites({ temporal, tests, ansible, operator: ownRunner });
  for (const note of notes) process.stderr.write(`! missing, so some tests are skipped: ${note}\n`);
  const node = await ensureNodeModules();
  const env = runtimeEnvironment(node);
  if (ansible) {
    const venv = await ensureAnsible(python, { tests });
    await ensureCollections(venv);
    env.MUSTER_ANSIBLE_BIN_DIR = join(venv, 'bin');
  }
  if (ownRunner) await ensureOperatorAnsible(python);
  if (temporal) env.MUSTER_TEMPORAL_BINARY = await ensureTemporal();
  if (tests) {
    const testServer = notes.some((note) => /Java|Maven/.test(note)) ? installedTestServer() : await ensureTestServer();
    if (testServer) env.MUSTER_TEST_SERVER_BINARY = testServer;
    Object.assign(env, await ensurePythonTools(python));
    // They take minutes to build: whoever needs them waits for them there.
    if (canBuildClusterPrograms() || missingClusterPrograms(API_SERVER_PROGRAMS).length === 0)
      env.MUSTER_TEST_KUBERNETES_DIR = clusterProgramsFolder();
  }
  return { node, env };
}
