import { lstat, opendir, readlink, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';

/** As many links as Linux follows in one path. */
const LINKS_MAX = 40;

/**
 * Removes the symbolic links of a checkout that lead out of it (absolute, by `..`, or through another link), into a `.git`, or
 * round in circles. Returns their paths in it. Links that stay inside remain, also dangling ones.
 */
export async function removeEscapingLinks(root: string): Promise<string[]> {
  const bad: string[] = [];
  for await (const link of linksBelow(root)) if (!(await staysInside(root, link))) bad.push(link);
  for (const link of bad) await rm(link, { force: true });
  return bad.map((link) => relative(root, link)).sort();
}

async function* linksBelow(root: string): AsyncGenerator<string> {
  const open = [root];
  for (let dir = open.pop(); dir !== undefined; dir = open.pop()) {
    for await (const entry of await opendir(dir)) {
      const path = join(dir, entry.name);
      if (entry.isSymbolicLink()) yield path;
      // A submodule has one of its own; no other folder can have this name.
      else if (entry.isDirectory() && entry.name !== '.git') open.push(path);
    }
  }
}

/** Walks the link's target the way the kernel does, component by component, and looks whether a step leaves `root`. */
async function staysInside(root: string, link: string): Promise<boolean> {
  let here = dirname(link);
  let followed = 1;
  const steps = await stepsOf(link);
  if (steps === null) return false;
  while (steps.length > 0) {
    const step = steps.shift();
    if (step === undefined || step === '' || step === '.') continue;
    if (step === '..') {
      if (here === root) return false;
      here = dirname(here);
      continue;
    }
    const next = join(here, step);
    if (step.toLowerCase() === '.git') return false;
    const found = await lstat(next).catch(() => null);
    if (!found?.isSymbolicLink()) {
      here = next;
      continue;
    }
    followed += 1;
    const inner = await stepsOf(next);
    if (inner === null || followed > LINKS_MAX) return false;
    steps.unshift(...inner);
  }
  return true;
}

/** Components of a link's target, `null` when it is absolute. */
async function stepsOf(link: string): Promise<string[] | null> {
  const target = await readlink(link);
  return target.startsWith(sep) ? null : target.split(sep);
}
