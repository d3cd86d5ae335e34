import { availableParallelism, freemem } from 'node:os';

/** A compiler of less would be slowed down by its limit. */
const LEAST_MIB = 2048;
const MIB = 2 ** 20;

/**
 * The environment in which Go builds programs, all of them static: so what they have in common is compiled once, as long as each is
 * built with -trimpath. Go's compilers clear up their memory all the time, which is a third
 * of their work; where there is plenty they do so only from a limit on. What the user has set counts.
 * @param {NodeJS.ProcessEnv} base
 * @param {{memory?: number, cpus?: number}} machine memory that is free (bytes); default: of this one
 * @returns {NodeJS.ProcessEnv}
 */
export function goEnvironment(base, { memory = freeMemory(), cpus = availableParallelism() } = {}) {
  // Two builds may run at once, with a compiler for each core.
  const share = Math.floor(memory / MIB / (4 * cpus));
  const collector = share < LEAST_MIB ? {} : { GOGC: 'off', GOMEMLIMIT: `${share}MiB` };
  const chosen = base.GOGC !== undefined || base.GOMEMLIMIT !== undefined ? {} : collector;
  return { ...base, CGO_ENABLED: '0', ...chosen };
}

function freeMemory() {
  return process.availableMemory?.() ?? freemem();
}
