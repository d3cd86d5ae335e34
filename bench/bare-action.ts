/** The same actions without Muster: their files in a new folder, and the bare program. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { GENERATED_INVENTORY } from '../drivers/inventory/write-inventory.ts';
import { inventoryOf } from './fleet.ts';

const run = promisify(execFile);

export interface BarePlaybook {
  playbook: string;
  ansibleBin: string;
  /** The ansible.cfg that Muster uses too. */
  ansibleConfig: string;
}

/** Runs a script with `bash` and returns the time of it all, s. */
export function bareScript(script: string): Promise<number> {
  return timed(async (dir) => {
    await writeFile(join(dir, 'run.sh'), script);
    await run('bash', ['run.sh'], { cwd: dir });
  });
}

/** Runs a playbook for one host and returns the time of it all, s. */
export function barePlaybook({ playbook, ansibleBin, ansibleConfig }: BarePlaybook, host: string): Promise<number> {
  return timed(async (dir) => {
    await mkdir(join(dir, 'hosts'));
    await writeFile(join(dir, 'hosts', GENERATED_INVENTORY), inventoryOf([host]));
    await writeFile(join(dir, 'run.yml'), playbook);
    await cp(ansibleConfig, join(dir, 'ansible.cfg'));
    const env = {
      PATH: `${ansibleBin}:${process.env.PATH}`,
      HOME: process.env.HOME ?? '/',
      LC_ALL: 'C.UTF-8',
      ANSIBLE_CONFIG: join(dir, 'ansible.cfg'),
      ANSIBLE_INVENTORY: join(dir, 'hosts'),
      ANSIBLE_HOME: join(dir, 'home'),
      ANSIBLE_LOCAL_TEMP: join(dir, 'tmp'),
    };
    await run(join(ansibleBin, 'ansible-playbook'), [join(dir, 'run.yml')], { env, cwd: dir });
  });
}

/** Does the work for each host, so many at a time, and returns the time of it all, s. */
export async function atATime(
  count: number,
  hosts: readonly string[],
  work: (host: string) => Promise<unknown>,
): Promise<number> {
  const started = performance.now();
  const left = [...hosts];
  const worker = async () => {
    for (let host = left.shift(); host !== undefined; host = left.shift()) await work(host);
  };
  await Promise.all(Array.from({ length: count }, worker));
  return (performance.now() - started) / 1_000;
}

async function timed(work: (dir: string) => Promise<void>): Promise<number> {
  const started = performance.now();
  const dir = await mkdtemp(join(tmpdir(), 'muster-bare-'));
  try {
    await work(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
  return (performance.now() - started) / 1_000;
}
