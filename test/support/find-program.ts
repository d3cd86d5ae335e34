import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const PATH = `${process.env.PATH ?? ''}${delimiter}/usr/sbin${delimiter}/sbin`;

/** Full path of a program of PATH (or of the sbin folders), `null` when the machine has none. */
export function findProgram(name: string): string | null {
  for (const dir of PATH.split(delimiter)) {
    const path = join(dir, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}
