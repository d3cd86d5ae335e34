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
/** No line with one name is so long, characters; each piece of a longer one would be joined with all before it. */
const LINE_MAX = 1024 * 1024;
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
  const ask = (program: string, words: string[], where: AnsibleWorkspace, signal: AbortSignal, take: TakeLine) =>
    run(python, ['-S', readInventory, join(binDir, program), ...words], where, signal, take);
  return {
    /** Hosts that a limit matches, by Ansible's rules for patterns. Throws `inventory_failed`. */
    matching: async (limit: string, where: AnsibleWorkspace, signal: AbortSignal): Promise<string[]> => {
      const file = limitNeedsFile(limit) ? join(tempDir, `limit-${crypto.randomUUID()}`) : null;
      if (file !== null) await writeFile(file, limitFileText(limit), { mode: 0o600, flag: 'wx' });
      try {
        const item = file === null ? limit : `@${file}`;
        const words = ['all', '--list-hosts', ...(item === '' ? [] : [`--limit=${item}`])];
        const hosts: string[] = [];
        const result = await ask('ansible', words, where, signal, (line) => {
          const host = listedHost(line);
          if (host !== null) hosts.push(host);
        });
        if (result.code !== 0 && result.stderr.includes(NO_HOSTS)) return [];
        checkSucceeded(result, 'the hosts of the limit', where);
        return hosts;
      } finally {
        if (file !== null) await rm(file, { force: true });
      }
    },
    /** Which of some names are hosts, and which groups. Throws `inventory_failed`. */
    names: async (wanted: readonly string[], where: AnsibleWorkspace, signal: AbortSignal): Promise<InventoryNames> => {
      const asked = new Set(wanted);
      const names = { hosts: new Set<string>(), groups: new Set<string>() };
      const result = await ask('ansible-inventory', ['--graph'], where, signal, (line) => {
        const { group, host } = graphName(line);
        if (group !== undefined && asked.has(group)) names.groups.add(group);
        if (host !== undefined && asked.has(host)) names.hosts.add(host);
      });
      checkSucceeded(result, 'the names of the inventory', where);
      return names;
    },
  };
}

/** Returns the host of a line of `ansible --list-hosts`, which begins with their number: the lines of hosts are indented more. */
export function listedHost(line: string): string | null {
  return line.startsWith('    ') ? line.slice(4) : null;
}

/** Returns what a line of `ansible-inventory --graph` names: `@all:`, then `|--name` or `|--@group:` at each depth. */
export function graphName(line: string): { group?: string | undefined; host?: string | undefined } {
  const [, group, host] = /^(?:(?: {2}\|)*--)?(?:@(.+):|(.+))$/.exec(line) ?? [];
  return { group, host };
}

/** Takes a line of what a program writes: of a large fleet all of them would be hundreds of MB. */
type TakeLine = (line: string) => void;

interface Result {
  code: number | null;
  stderr: string;
}

function checkSucceeded({ code, stderr }: Result, what: string, { masks }: AnsibleWorkspace): void {
  if (code === 0) return;
  const said = maskSecrets(stderr.trim(), masks).slice(-SAID_MAX);
  throw musterError('inventory_failed', `Ansible could not tell ${what}: ${said || `it ended with ${code}`}`);
}

/** Runs a program in a process group of its own, which ends as a whole with the signal: inventories may be scripts. */
function run(
  program: string,
  words: string[],
  where: AnsibleWorkspace,
  signal: AbortSignal,
  take: TakeLine,
): Promise<Result> {
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
    let length = 0;
    let rest = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      length += text.length;
      if (length > OUTPUT_MAX) return killGroup();
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LINE_MAX) {
        length = Number.POSITIVE_INFINITY;
        return killGroup();
      }
      for (const line of lines) take(line);
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
      else {
        if (rest !== '') take(rest);
        resolve({ code, stderr });
      }
    });
  });
}
