/** The launcher of runs without Muster: started on the files of an action, and followed to its end. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACTION_FILE, INPUTS_FILE } from '../domain/propagation/shell-action.ts';
import { createLocalRunner } from '../drivers/local-runner/local-runner.ts';
import { ansibleBin } from '../test/support/ansible/ansible.ts';
import { LAUNCHER, START } from '../test/support/ansible/local-runs.ts';

const never = new AbortController().signal;
const nothing = async () => undefined;

/** Runs a script so many times, one after the other, each by a launcher of its own. Returns the time of all, s. */
export async function bareLaunches(count: number, script: string): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-bare-launches-'));
  const runsDir = join(dir, 'runs');
  await mkdir(runsDir);
  const python = join(ansibleBin(), 'python3');
  const runner = await createLocalRunner({ runsDir, slots: 1, python, launcher: LAUNCHER });
  const started = performance.now();
  for (let number = 0; number < count; number += 1) {
    const runId = `${randomUUID()}-1-0`;
    const cwd = join(dir, runId);
    await mkdir(cwd);
    await writeFile(join(cwd, ACTION_FILE), script);
    await writeFile(join(cwd, INPUTS_FILE), JSON.stringify({ location_id: 'localhost', transports_id: '' }));
    const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', MUSTER_INPUTS: join(cwd, INPUTS_FILE) };
    const files = { cwd, env, secretEnv: {}, masks: [], logMaxBytes: 2 ** 20 };
    await runner.start({ runId, argv: ['bash', ACTION_FILE], ...files }, never, nothing);
    const { exit } = await runner.watch(runId, START, nothing, never);
    if (exit?.code !== 0) throw new Error(`bare run ${number} ended with ${exit?.code}`);
    await rm(cwd, { recursive: true });
  }
  const seconds = (performance.now() - started) / 1_000;
  await rm(dir, { recursive: true, force: true });
  return seconds;
}
