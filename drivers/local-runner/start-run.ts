import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { musterError } from '../../domain/errors.ts';
import type { RunSpec } from '../../domain/runs/runner.ts';
import { makeRunDirectory, type RunPaths, readClaim, writePrivate } from './run-files.ts';

export interface LauncherOptions {
  /** Python interpreter and the launcher's file. */
  python: string;
  launcher: string;
}

/** How long a launcher may take to claim its run. */
const CLAIM_TIMEOUT_MS = 10_000;

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

  const failure = await launch(paths, options);
  const deadline = Date.now() + CLAIM_TIMEOUT_MS;
  while ((await readClaim(paths)) === null) {
    if (failure !== null || Date.now() > deadline) {
      const log = await readFile(join(paths.dir, 'launcher.log'), 'utf8').catch(() => '');
      const last = log.trim().split('\n').at(-1);
      throw musterError('run_not_started', `the launcher did not take the run: ${failure ?? (last || 'no answer')}`);
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
