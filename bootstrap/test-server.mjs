import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, output, run } from './commands.mjs';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { CACHE_DIR, NEEDED, ROOT, TEST_SERVER_VERSION as VERSION } from './settings.mjs';

const FOLDER = join(CACHE_DIR, `temporal-test-server-${VERSION}`);
const WRAPPER = join(FOLDER, 'temporal-test-server');

/** Path of the time-skipping test server: MUSTER_TEST_SERVER_BINARY, then the cache; undefined when there is none. */
export function installedTestServer() {
  const configured = process.env.MUSTER_TEST_SERVER_BINARY;
  if (configured) return configured;
  return existsSync(WRAPPER) && findOnPath('java') ? WRAPPER : undefined;
}

/** Whether Java and Maven are there to install it. */
export function canInstallTestServer() {
  return findOnPath('mvn') !== undefined && javaVersion() >= NEEDED.java;
}

/** Major version of the Java on PATH, 0 when there is none. */
export function javaVersion() {
  const java = findOnPath('java');
  return Number(/version "(\d+)/.exec((java && output(java, ['-version'])) ?? '')?.[1] ?? 0);
}

/**
 * Installs the time-skipping test server with Maven, which checks what it fetches.
 * @returns {Promise<string>} path of an executable that takes the port as argument
 */
export async function ensureTestServer() {
  const ready = installedTestServer();
  if (ready) return ready;
  return withLock(
    `test server ${FOLDER}`,
    async () => {
      const readyByNow = installedTestServer();
      if (readyByNow) return readyByNow;
      mkdirSync(CACHE_DIR, { recursive: true });
      const work = mkdtempSync(join(CACHE_DIR, 'temporal-test-server.tmp-'));
      try {
        await step(`Installing the time-skipping test server ${VERSION}`, (onDetail) => fetchJars(work, onDetail));
        const script = '#!/bin/sh\nexec java -cp "$(dirname "$0")/lib/*" io.temporal.testserver.TestServer "$@"\n';
        writeFileSync(join(work, 'temporal-test-server'), script, { mode: 0o755 });
        rmSync(FOLDER, { recursive: true, force: true });
        renameSync(work, FOLDER);
      } finally {
        rmSync(work, { recursive: true, force: true });
      }
      return WRAPPER;
    },
    (text) => process.stderr.write(`  test server: ${text}\n`),
  );
}

function fetchJars(work, onDetail) {
  const pom = join(ROOT, 'bootstrap', 'test-server', 'pom.xml');
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${join(work, 'lib')}`];
  return run('mvn', ['--batch-mode', '--no-transfer-progress', '--file', pom, ...goal], { onLine: onDetail });
}
