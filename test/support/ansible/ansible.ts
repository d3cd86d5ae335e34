import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { findProgram } from '../find-program.ts';

const PROGRAM = 'ansible-playbook';

/** Folder with a real Ansible's programs, `null` when there is none: as configured, else the newest of the cache, else of PATH. */
export function findAnsible(): string | null {
  const given = process.env.MUSTER_ANSIBLE_BIN_DIR;
  if (given !== undefined) return given;
  const cache = process.env.MUSTER_CACHE_DIR ?? join(homedir(), '.cache', 'muster');
  const versions = existsSync(cache) ? readdirSync(cache).filter((name) => name.startsWith('ansible-')) : [];
  const byVersion = versions.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const cached = byVersion.map((name) => join(cache, name, 'bin')).find((dir) => existsSync(join(dir, PROGRAM)));
  if (cached !== undefined) return cached;
  const installed = findProgram(PROGRAM);
  return installed === null ? null : dirname(installed);
}

/** Folder with a real Ansible's programs; throws when there is none. */
export function ansibleBin(): string {
  const found = findAnsible();
  if (found === null) throw new Error('no Ansible: set MUSTER_ANSIBLE_BIN_DIR, or run the bootstrap that installs it');
  return found;
}

/** Why no real Ansible can be run here, `null` when one can. */
export function ansibleMissing(): string | null {
  return findAnsible() === null ? 'Ansible is not installed: run through "npm test"' : null;
}
