/**
 * What a process of Muster's that a test starts gets of this one's environment: the programs, and the folder where Node keeps
 * compiled sources, as `./muster` gives both to its processes. Anything else would make it another process than a user's.
 */
export function processEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) };
}
