import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InventoryNames } from '../../domain/components/inventory/inventory-tree.ts';
import { musterError } from '../../domain/errors.ts';
import { maskSecrets } from '../../domain/runs/mask.ts';
import { limitFileText, limitNeedsFile } from '../../domain/sessions/ansible-limit.ts';
import type { AnsibleWorkspace } from '../../domain/sessions/ports.ts';

/** Ansible's words where a limit matches nothing. */
const NO_HOSTS = 'leaves us with no hosts to target';
/** A fleet of a million hosts needs less. */
const OUTPUT_MAX = 256 * 1024 * 1024;
const SAID_MAX = 500;

export interface AnsibleHostsOptions {
  binDir: string;
  /** Python, and the script by which a program reads an inventory as a run does. */
  python: string;
  readInventory: string;
  /** Private to us. */
  tempDir: string;
}

/** Asks the installed Ansible which hosts there are, without running anything on them. */
export function createAnsibleHosts({ binDir, python, readInventory, tempDir }: AnsibleHostsOptions) {
  const ask = (program: string, words: string[], where: AnsibleWorkspace, signal: AbortSignal) =>
    run(python, ['-S', readInventory, join(binDir, program), ...words], where, signal);
  return {
    /** Hosts that a limit matches, by Ansible's rules for patterns. Throws `inventory_failed`. */
    matching: async (limit: string, where: AnsibleWorkspace, signal: AbortSignal): Promise<string[]> => {
      const file = limitNeedsFile(limit) ? join(tempDir, `limit-${crypto.randomUUID()}`) : null;
      if (file !== null) await writeFile(file, limitFileText(limit), { mode: 0o600, flag: 'wx' });
      try {
        const item = file === null ? limit : `@${file}`;
        const words = ['all', '--list-hosts', ...(item === '' ? [] : [`--limit=${item}`])];
        const result = await ask('ansible', words, where, signal);
        if (result.code !== 0 && result.stderr.includes(NO_HOSTS)) return [];
        return listedHosts(succeeded(result, 'the hosts of the limit', where));
      } finally {
        if (file !== null) await rm(file, { force: true });
      }
    },
    /** Names of all hosts and groups. Throws `inventory_failed`. */
    names: async (where: AnsibleWorkspace, signal: AbortSignal): Promise<InventoryNames> => {
      const result = await ask('ansible-inventory', ['--graph'], where, signal);
      return graphNames(succeeded(result, 'the names of the inventory', where));
    },
  };
}

/** Host names of `ansible --list-hosts`: a line with their number, then one a line, indented. */
export function listedHosts(output: string): string[] {
  return output.split('\n').flatMap((line) => (line.startsWith('    ') ? [line.slice(4)] : []));
}

/** Names of `ansible-inventory --graph`: `@all:`, then `|--name` or `|--@group:` at each depth. */
export function graphNames(output: string): InventoryNames {
  const names = { hosts: new Set<string>(), groups: new Set<string>() };
  for (const line of output.split('\n')) {
    const [, group, host] = /^(?:(?: {2}\|)*--)?(?:@(.+):|(.+))$/.exec(line) ?? [];
    if (group !== undefined) names.groups.add(group);
    else if (host !== undefined) names.hosts.add(host);
  }
  return names;
}

interface Result {
  code: number | null;
  stdout: string;
  stderr: string;
}

function succeeded({ code, stdout, stderr }: Result, what: string, { masks }: AnsibleWorkspace): string {
  if (code === 0) return stdout;
  const said = maskSecrets(stderr.trim(), masks).slice(-SAID_MAX);
  throw musterError('inventory_failed', `Ansible could not tell ${what}: ${said || `it ended with ${code}`}`);
}

/** Runs a program in a process group of its own, which ends as a whole with the signal: inventories may be scripts. */
function run(program: string, words: string[], where: AnsibleWorkspace, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const child = spawn(program, words, {
      cwd: where.cwd,
      env: where.env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const killGroup = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The whole group has ended already.
      }
    };
    signal.addEventListener('abort', killGroup, { once: true });
    const chunks: string[] = [];
    let length = 0;
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      length += text.length;
      if (length <= OUTPUT_MAX) chunks.push(text);
      else killGroup();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-65_536);
    });
    child.once('error', (error) => {
      signal.removeEventListener('abort', killGroup);
      reject(musterError('inventory_failed', `${program} cannot be started: ${error.message}`));
    });
    child.once('close', (code) => {
      signal.removeEventListener('abort', killGroup);
      // What it has left behind, such as a script that went into the background.
      killGroup();
      if (signal.aborted) reject(signal.reason);
      else resolve({ code, stdout: chunks.join(''), stderr });
    });
  });
}
