import { collectGarbage } from './collect-garbage.ts';

const EVERY_MS = 60_000;
/** Growth since the last time from which a pause pays, as a part of what was left then. */
const GROWTH = 0.1;

/**
 * Collects garbage every `everyMs`, where some has come together. Left alone V8 collects the less often the longer a process
 * works, since it finds little to free, and what it holds grows although no more is in use. A process that is about to end is
 * not kept.
 */
export function collectNowAndThen(everyMs = EVERY_MS): void {
  let left = 0;
  setInterval(() => {
    if (inUse() < left * (1 + GROWTH)) return;
    collectGarbage();
    left = inUse();
  }, everyMs).unref();
}

/** Bytes of the heap, and of buffers beside it, that are taken, garbage included. */
function inUse(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
