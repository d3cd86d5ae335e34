/** Numbers from a seed: what went wrong by chance can be tried again. */

export interface SeededRandom {
  readonly seed: number;
  /** A number from 0 on and below 1. */
  next(): number;
}

/** Makes numbers of a seed, by default that of `MUSTER_TEST_SEED`, or else a new one. Returns the same ones for the same seed. */
export function seededRandom(seed = Number(process.env.MUSTER_TEST_SEED ?? Date.now() % 2 ** 31)): SeededRandom {
  // Xorshift stands still at zero.
  let state = seed | 0 || 1;
  const step = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  // Small seeds begin with small numbers.
  for (let turn = 0; turn < 16; turn += 1) step();
  return { seed, next: step };
}
