/** Which variables of a run a process must be started with that is to execute it later. */

/** What an interpreter, the C library or the import of a module reads once, at its start. */
const NAMES: readonly string[] = ['LANG', 'LANGUAGE', 'HOME', 'USER', 'LOGNAME', 'LNAME', 'USERNAME', 'TMPDIR'];
const PREFIXES: readonly string[] = ['PYTHON', 'LC_', 'LD_', 'OPENSSL_', 'GLIBC_', 'MALLOC_'];

/** Search path of a process that is kept: no program of a run is found by it. */
const PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * Returns the environment of the process that is kept for such runs: of theirs what is read at a start, and nothing that is known to
 * Ansible or to one run alone. Two runs with the same answer can have the same process.
 */
export function startupOf(env: Readonly<Record<string, string>>): Record<string, string> {
  const read = Object.entries(env).filter(
    ([name]) => NAMES.includes(name) || PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
  return { PATH, ...Object.fromEntries(read.sort(([one], [other]) => (one < other ? -1 : 1))) };
}
