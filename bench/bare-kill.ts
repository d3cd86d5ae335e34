/** The end of the same work without Muster: plain signals to all of its processes. */
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { processesOf, signal } from '../drivers/machine/process-table.ts';
import { eventually } from '../test/support/eventually.ts';
import { type BareRun, layOut } from './bare-run.ts';
import { countSleepers } from './endless-plays.ts';

const run = promisify(execFile);

/** As long as Muster waits. */
const GRACE_MS = 3_000;
const LOOK_MS = 50;

/** Starts the playbook, waits until so many processes of its tasks sleep, and says how long their end took, s. */
export async function bareKill(work: BareRun, sleepers: number): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-bare-'));
  const id = `bare-${randomUUID()}`;
  const processes = () => processesOf(id, {}, new Map());
  try {
    const { command, env } = await layOut(work, dir, ([file = '', ...args], variables) =>
      run(file, args, { env: variables }),
    );
    const [file, playbook] = command;
    // By this variable the same look finds them that finds those of a session.
    spawn(file, [playbook], { env: { ...env, MUSTER_RUN_ID: id }, stdio: 'ignore' });
    await eventually(
      'the tasks are at work',
      async () => (await countSleepers((await processes()).keys())) >= sleepers,
    );
    let left = await processes();
    const started = performance.now();
    for (const pid of left.keys()) signal(pid, 'SIGTERM');
    for (;;) {
      left = await processesOf(id, {}, left);
      const passed = performance.now() - started;
      if (left.size === 0) return passed / 1000;
      if (passed >= GRACE_MS) for (const pid of left.keys()) signal(pid, 'SIGKILL');
      await delay(LOOK_MS);
    }
  } finally {
    for (const pid of (await processes()).keys()) signal(pid, 'SIGKILL');
    await rm(dir, { recursive: true, force: true });
  }
}
