/** The same work without Muster: clone, inventory, ansible.cfg, ansible-playbook; without plugin, launcher or mirror. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { GENERATED_INVENTORY } from '../drivers/inventory/write-inventory.ts';

const run = promisify(execFile);

export interface BareRun {
  repository: string;
  playbook: string;
  /** Text of the inventory file. */
  inventory: string;
  ansibleBin: string;
  /** The ansible.cfg that Muster uses too. */
  ansibleConfig: string;
  /** Set: the inventory is Muster's data file, read by its inventory plugin in that folder, and the playbook runs on these hosts alone. */
  whole?: { plugins: string; limit: string };
}

export interface Usage {
  /** Seconds. */
  wall: number;
  cpu: number;
}

/** Python that runs a command, waits for it and says what processor time it and its children took. */
const MEASURE =
  'import json,os,resource,subprocess,sys\n' +
  'code=subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL,stderr=subprocess.STDOUT).returncode\n' +
  'u=resource.getrusage(resource.RUSAGE_CHILDREN)\n' +
  'print(json.dumps({"code":code,"cpu":u.ru_utime+u.ru_stime}))';

/** Runs it once from nothing and measures the whole of it. */
export async function bareRun(work: BareRun): Promise<Usage> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-bare-'));
  try {
    const started = performance.now();
    let cpu = 0;
    const { command, env } = await layOut(work, dir, async (words, variables) => {
      cpu += await measured(words, variables);
    });
    cpu += await measured(command, env);
    return { wall: (performance.now() - started) / 1000, cpu };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Clones by means of `execute` and writes the files; answers the command that runs the playbook, with its environment. */
export async function layOut(
  { repository, playbook, inventory, ansibleBin, ansibleConfig, whole }: BareRun,
  dir: string,
  execute: (command: string[], env: Record<string, string>) => Promise<unknown>,
): Promise<{ command: [string, string, ...string[]]; env: Record<string, string> }> {
  const env = {
    PATH: `${ansibleBin}:${process.env.PATH}`,
    HOME: process.env.HOME ?? '/',
    LC_ALL: 'C.UTF-8',
    ANSIBLE_CONFIG: join(dir, 'ansible.cfg'),
    ANSIBLE_INVENTORY: join(dir, 'hosts'),
    ANSIBLE_HOME: join(dir, 'home'),
    ANSIBLE_LOCAL_TEMP: join(dir, 'tmp'),
    ...(whole === undefined
      ? {}
      : { ANSIBLE_INVENTORY_PLUGINS: whole.plugins, ANSIBLE_INVENTORY_ENABLED: 'muster_fleet,auto,yaml,ini' }),
  };
  await execute(['git', 'clone', '--quiet', repository, join(dir, 'layer')], env);
  await mkdir(env.ANSIBLE_INVENTORY);
  await writeFile(join(env.ANSIBLE_INVENTORY, whole === undefined ? 'inventory.yaml' : GENERATED_INVENTORY), inventory);
  await cp(ansibleConfig, env.ANSIBLE_CONFIG);
  const limit = whole === undefined ? [] : [`--limit=${whole.limit}`];
  return { command: [join(ansibleBin, 'ansible-playbook'), join(dir, 'layer', playbook), ...limit], env };
}

async function measured(command: string[], env: Record<string, string>): Promise<number> {
  const { stdout } = await run('python3', ['-S', '-c', MEASURE, ...command], { env });
  const { code, cpu } = JSON.parse(stdout);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}`);
  return cpu;
}

/** The shipped ansible.cfg without what is Muster's own: its strategy and callback. */
export async function plainAnsibleConfig(shipped: string, dir: string): Promise<string> {
  const path = join(dir, 'plain-ansible.cfg');
  const text = await readFile(shipped, 'utf8');
  const plain = text
    .split('\n')
    .filter((line) => !/^\s*(strategy|callbacks_enabled|callback_plugins|strategy_plugins)\s*=/.test(line));
  await writeFile(path, plain.join('\n'));
  return path;
}

/** Processor seconds that a process has used so far, children it has waited for included. */
export async function cpuOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks / 100;
}
