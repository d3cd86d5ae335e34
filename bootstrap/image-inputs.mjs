import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Short hash of everything in a checkout that an image is made from: its Dockerfile, and every file that a COPY of it takes
 * from there and .dockerignore does not leave out. Two checkouts with the same content have the same hash.
 * @param {string} root folder of the checkout
 * @param {string} dockerfile relative path
 * @param {string[]} more what else it depends on: the base, versions of programs
 */
export function inputsHash(root, dockerfile, more) {
  const ignored = ignoreRules(root);
  const hash = createHash('sha256');
  for (const word of more) hash.update(`${word}\0`);
  for (const path of [dockerfile, ...copiedPaths(readFileSync(join(root, dockerfile), 'utf8'))]) {
    for (const file of filesBelow(root, path, ignored)) {
      const full = join(root, file);
      const stat = lstatSync(full);
      const content = stat.isSymbolicLink() ? readlinkSync(full) : readFileSync(full);
      hash.update(`${file}\0${stat.mode & 0o111 ? 'x' : '-'}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest('hex').slice(0, 12);
}

/**
 * Paths that a Dockerfile copies out of its context; what comes from another stage or context is not among them.
 * @param {string} text
 * @returns {string[]}
 */
export function copiedPaths(text) {
  const lines = text.replaceAll('\\\n', ' ').split('\n');
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([word, first]) => word === 'COPY' && !first?.startsWith('--from'))
    .flatMap((words) => words.slice(1, -1).filter((word) => !word.startsWith('--')));
}

/**
 * Whether .dockerignore leaves a path out, in the forms that this project's file uses (it names them).
 * @param {string} root
 * @returns {(path: string) => boolean}
 */
export function ignoreRules(root) {
  const file = join(root, '.dockerignore');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const patterns = lines.map((line) => line.trim()).filter((line) => line && !line.startsWith('#'));
  return (path) => {
    const last = patterns.findLast((pattern) => fits(pattern.replace(/^!/, ''), path));
    return last !== undefined && !last.startsWith('!');
  };
}

function fits(pattern, path) {
  if (pattern === '*') return path !== '.';
  if (pattern.startsWith('**/')) return path.split('/').includes(pattern.slice(3));
  return path === pattern || path.startsWith(`${pattern}/`);
}

function filesBelow(root, path, ignored) {
  if (ignored(path)) return [];
  if (!lstatSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => filesBelow(root, join(path, name), ignored));
}
