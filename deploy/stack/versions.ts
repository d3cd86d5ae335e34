import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Version in package.json. */
export function musterVersion(root: string): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

/** Version of ansible-core in the venv of `binDir`, read from the package's folder name (asking Ansible takes 0.5 s). */
export function ansibleVersion(binDir: string | undefined): string | null {
  if (binDir === undefined) return null;
  try {
    const lib = join(binDir, '..', 'lib');
    for (const python of readdirSync(lib)) {
      for (const name of readdirSync(join(lib, python, 'site-packages'))) {
        const version = /^ansible_core-(.+)\.dist-info$/.exec(name)?.[1];
        if (version) return version;
      }
    }
  } catch {
    // An Ansible that is not in a venv keeps its version to itself.
  }
  return null;
}
