import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, output, run } from './commands.mjs';
import { download } from './download.mjs';
import { goEnvironment } from './go-build.mjs';
import { withLock } from './lock.mjs';
import { step } from './progress.mjs';
import { CACHE_DIR, NEEDED, TEMPORAL_CLI_VERSION as VERSION } from './settings.mjs';
import { SetupError } from './setup-error.mjs';

/** Official archives by Node's name of the architecture, with the SHA-256 of the release. */
const ARCHIVES = {
  x64: { arch: 'amd64', sha256: 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d' },
  arm64: { arch: 'arm64', sha256: 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5' },
};

const FOLDER = join(CACHE_DIR, `temporal-${VERSION}`);
const BINARY = join(FOLDER, 'temporal');

/**
 * Path of a Temporal CLI that is there already: MUSTER_TEMPORAL_BINARY, PATH, cache, in this order; else undefined.
 * @returns {string | undefined}
 */
export function installedTemporal() {
  const configured = process.env.MUSTER_TEMPORAL_BINARY;
  if (configured) {
    if (!answersVersion(configured)) {
      throw new SetupError(`MUSTER_TEMPORAL_BINARY is ${configured}, which does not answer to --version.`);
    }
    return configured;
  }
  const onPath = findOnPath('temporal');
  if (onPath && answersVersion(onPath)) return onPath;
  return existsSync(BINARY) ? BINARY : undefined;
}

/**
 * Installs the Temporal CLI into the cache when none is there: the official release with its checksum, else by Go.
 * @returns {Promise<string>} path of the binary
 */
export async function ensureTemporal() {
  const ready = installedTemporal();
  if (ready) return ready;
  return withLock(
    `temporal ${FOLDER}`,
    async () => {
      const readyByNow = installedTemporal();
      if (readyByNow) return readyByNow;
      mkdirSync(CACHE_DIR, { recursive: true });
      const work = mkdtempSync(join(CACHE_DIR, 'temporal.tmp-'));
      try {
        await step(`Installing Temporal ${VERSION}`, (onDetail) => fetchOrBuild(work, onDetail));
        rmSync(FOLDER, { recursive: true, force: true });
        renameSync(work, FOLDER);
      } finally {
        rmSync(work, { recursive: true, force: true });
      }
      return BINARY;
    },
    (text) => process.stderr.write(`  Temporal: ${text}\n`),
  );
}

/** Version of the Go found on PATH as [major, minor], or undefined. */
export function goVersion() {
  const go = findOnPath('go');
  const match = /go(\d+)\.(\d+)/.exec((go && output(go, ['env', 'GOVERSION'])) ?? '');
  return match ? [Number(match[1]), Number(match[2])] : undefined;
}

function answersVersion(path) {
  return /temporal version/.test(output(path, ['--version']) ?? '');
}

async function fetchOrBuild(work, onDetail) {
  const refusal = await fetchRelease(work, onDetail).then(
    () => undefined,
    (error) => error,
  );
  if (refusal) await buildWithGo(work, onDetail, refusal);
  chmodSync(join(work, 'temporal'), 0o755);
  if (!answersVersion(join(work, 'temporal')))
    throw new SetupError('The Temporal CLI that was installed does not run.', 1);
}

async function fetchRelease(work, onDetail) {
  const archive = ARCHIVES[process.arch];
  if (!archive) throw new Error(`no release for ${process.arch}`);
  const name = `temporal_cli_${VERSION}_linux_${archive.arch}.tar.gz`;
  const file = join(work, name);
  onDetail('downloading');
  await download(
    `https://github.com/temporalio/cli/releases/download/v${VERSION}/${name}`,
    file,
    archive.sha256,
    onDetail,
  );
  await run('tar', ['-xzf', file, '-C', work, 'temporal']);
  rmSync(file);
}

async function buildWithGo(work, onDetail, refusal) {
  const found = goVersion();
  const [major, minor] = NEEDED.go;
  if (!found || found[0] < major || (found[0] === major && found[1] < minor)) {
    throw new SetupError(
      `Temporal is missing. Its download failed (${refusal.message}), and building it needs Go >= ${NEEDED.go.join('.')} ` +
        `(${found ? `found ${found.join('.')}` : 'none on PATH'}). Open the download, install Go, or set ` +
        'MUSTER_TEMPORAL_BINARY or MUSTER_TEMPORAL_ADDRESS.',
    );
  }
  onDetail(`building with Go, 2 to 4 minutes (no download: ${refusal.message})`);
  const version = `-X github.com/temporalio/cli/temporalcli.Version=${VERSION}`;
  const source = `github.com/temporalio/cli/cmd/temporal@v${VERSION}`;
  await run('go', ['install', '-trimpath', '-ldflags', `-s -w ${version}`, source], {
    env: goEnvironment({ ...process.env, GOBIN: work }),
  });
}
