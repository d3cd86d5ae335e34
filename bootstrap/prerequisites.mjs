import { lookup } from 'node:dns/promises';
import { installedAnsible } from './ansible.mjs';
import { API_SERVER_PROGRAMS, canBuildClusterPrograms, missingClusterPrograms } from './cluster-programs.mjs';
import { findOnPath, output } from './commands.mjs';
import { installedNode } from './installed-node.mjs';
import { installedOperatorAnsible } from './operator-ansible.mjs';
import { installedPythonTools } from './python-tools.mjs';
import { NEEDED } from './settings.mjs';
import { SetupError } from './setup-error.mjs';
import { goVersion, installedTemporal } from './temporal.mjs';
import { canInstallTestServer, installedTestServer, javaVersion } from './test-server.mjs';

/**
 * Checks what the user has to bring. Whatever is installed already is not asked for again, so a later start checks a
 * few paths only.
 * @param {{temporal: boolean, tests: boolean, ansible: boolean, operator?: boolean}} needs what this start installs
 * @returns {Promise<{python: string | undefined, notes: string[]}>} the Python to make the venv with; what the tests will skip
 * @throws {SetupError} that names everything that is missing, each with its Debian package
 */
export async function checkPrerequisites({ temporal, tests, ansible, operator = false }) {
  const missing = [];
  const optional = [];
  let python;
  if (process.platform !== 'linux')
    missing.push(`Linux (this is ${process.platform}; use a container or a virtual machine)`);
  if (Number(process.versions.node.split('.')[0]) < NEEDED.node) {
    missing.push(`Node >= ${NEEDED.node} (found ${process.versions.node}; package: nodejs)`);
  }
  if (!findOnPath('git')) missing.push('git (package: git)');
  if (!installedNode() && !findOnPath('npm')) missing.push('npm (package: npm)');
  const needsVenv = (ansible && !installedAnsible({ tests })) || (operator && !installedOperatorAnsible());
  if (needsVenv || (tests && !installedPythonTools())) {
    const found = findPython();
    python = found.path;
    if (!python) missing.push(found.reason);
  }
  const temporalMissing = temporal && !installedTemporal();
  const testServerMissing = tests && !installedTestServer();
  const closed = (temporalMissing || testServerMissing) && !(await downloadsAreOpen());
  if (temporalMissing && closed && !hasGo()) {
    missing.push(
      `Go >= ${NEEDED.go.join('.')} to build Temporal, because its download cannot be reached (package: golang-go)`,
    );
  }
  if (temporalMissing && !closed && !findOnPath('tar')) missing.push('tar (package: tar)');
  if (tests) {
    if (!findOnPath('systemd-analyze')) optional.push('systemd-analyze for the test of the units (package: systemd)');
    if (!findOnPath('sshd')) optional.push('sshd for the tests over SSH (package: openssh-server)');
    if (!findOnPath('haproxy')) optional.push('haproxy for the test of a load balancer (package: haproxy)');
    if (!findOnPath('rabbitmqctl'))
      optional.push('RabbitMQ for the test of a message queue (package: rabbitmq-server)');
    if (!findOnPath('chromium')) optional.push('chromium for the tests of the web UI (package: chromium)');
    if (missingClusterPrograms(API_SERVER_PROGRAMS).length > 0 && !canBuildClusterPrograms()) {
      optional.push(
        'Go to build the API server of Kubernetes for the tests of secrets in a cluster (package: golang-go)',
      );
    }
    if (testServerMissing && closed && !canInstallTestServer()) optional.push(...missingJava());
  }
  const strict = process.env.MUSTER_TEST_REQUIRE === 'all';
  if (strict) missing.push(...optional);
  if (missing.length > 0)
    throw new SetupError(`Missing on this machine:\n${missing.map((line) => `  - ${line}`).join('\n')}`);
  return { python, notes: optional };
}

function missingJava() {
  const lines = [];
  const java = javaVersion();
  if (java < NEEDED.java) {
    lines.push(
      `Java >= ${NEEDED.java} for the workflow tests${java ? ` (found ${java})` : ''} (package: default-jre-headless)`,
    );
  }
  if (!findOnPath('mvn')) lines.push('Maven to fetch the time-skipping test server (package: maven)');
  return lines;
}

function hasGo() {
  const found = goVersion();
  const [major, minor] = NEEDED.go;
  return found !== undefined && (found[0] > major || (found[0] === major && found[1] >= minor));
}

/** A Python that is new enough and can make a venv with pip, or the reason why there is none. */
function findPython() {
  const [major, minor] = NEEDED.python;
  const names = ['python3', ...[14, 13, 12, 11].map((version) => `python3.${version}`)];
  let reason = `Python >= ${major}.${minor} with venv (packages: python3, python3-venv)`;
  for (const name of names) {
    const path = findOnPath(name);
    const version =
      path && output(path, ['-c', 'import sys; print(*sys.version_info[:2])'])?.trim().split(' ').map(Number);
    if (!version) continue;
    const newEnough = version[0] > major || (version[0] === major && version[1] >= minor);
    if (!newEnough) continue;
    if (output(path, ['-c', 'import venv, ensurepip']) !== undefined) return { path };
    reason = `the module venv of Python ${version.join('.')} (package: python${version.join('.')}-venv)`;
  }
  return { path: undefined, reason };
}

/** Whether release downloads can be reached at all, judged by the name service alone (at most 3 s). */
async function downloadsAreOpen() {
  const late = new Promise((resolve) => setTimeout(resolve, 3000, false).unref());
  return Promise.race([
    lookup('github.com').then(
      () => true,
      () => false,
    ),
    late,
  ]);
}
