import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { musterError } from '../../domain/errors.ts';
import type { RunSpec } from '../../domain/runs/runner.ts';
import { makeRunDirectory, type RunPaths, readClaim, writePrivate } from './run-files.ts';
import type { WarmAnsible } from './warm-ansible.ts';

export interface LauncherOptions {
  /** Python interpreter and the launcher's file. */
  python: string;
  launcher: string;
  /** Processes that have imported Ansible; without: each run is started cold. */
  warm?: WarmAnsible | undefined;
}

/** How long a launcher may take to claim its run. */
const CLAIM_TIMEOUT_MS = 10_000;
/** How long a launcher of a warm process may take, until another one is started; whichever comes first claims the run. */
const WARM_CLAIM_MS = 2_000;

/**
 * Starts the run unless somebody has claimed it; resolves when it is claimed, by this launcher or another. So it may be
 * repeated after any crash and the playbook still starts once.
 */
export async function startRun(paths: RunPaths, spec: RunSpec, options: LauncherOptions): Promise<void> {
  await makeRunDirectory(paths);
  if ((await readClaim(paths)) !== null) return;
  if (spec.masks.length > 0) await writePrivate(paths.mask, JSON.stringify(spec.masks));
  if (Object.keys(spec.secretEnv).length > 0) await writePrivate(paths.environment, JSON.stringify(spec.secretEnv));
  const { runId, argv, cwd, env, logMaxBytes, trace } = spec;
  await writePrivate(paths.spec, JSON.stringify({ run_id: runId, argv, cwd, env, log_max_bytes: logMaxBytes, trace }));

  let isWarm = (await options.warm?.start(paths.dir, spec)) === true;
  let failure = isWarm ? null : await launch(paths, options);
  const warmDeadline = Date.now() + WARM_CLAIM_MS;
  const deadline = Date.now() + CLAIM_TIMEOUT_MS;
  while ((await readClaim(paths)) === null) {
    if (failure !== null || Date.now() > deadline) {
      const log = await readFile(join(paths.dir, 'launcher.log'), 'utf8').catch(() => '');
      const last = log.trim().split('\n').at(-1);
      throw musterError('run_not_started', `the launcher did not take the run: ${failure ?? (last || 'no answer')}`);
    }
    if (isWarm && Date.now() > warmDeadline) {
      isWarm = false;
      failure = await launch(paths, options);
    }
    await delay(5);
  }
}

/** Resolves when the launcher has detached itself; to a sentence when it could not be started. */
function launch(paths: RunPaths, { python, launcher }: LauncherOptions): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(python, ['-S', launcher, paths.dir], {
      detached: true,
      stdio: 'ignore',
      cwd: '/',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8' },
    });
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? null : `it ended with ${signal ?? code}`));
  });
}
