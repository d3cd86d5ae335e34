import { collectGarbage } from './collect-garbage.ts';

/** When a start is over, with what it leaves behind, ms. */
const SETTLED_MS = 10_000;

/**
 * Gives back, once, what the start of this process has left: modules that were read, parsed and compiled. V8 collects only while
 * something is allocated, so a process that starts and then has nothing to do would keep it for ever, 10 to 25 MB each.
 * It costs one pause, of some 50 ms, `afterMs` from now. A process that ends before that is not kept.
 */
export function collectAfterStart(afterMs = SETTLED_MS): void {
  setTimeout(collectGarbage, afterMs).unref();
}
