import { setFlagsFromString } from 'node:v8';

/** How much may be allocated after a collection until the next one, per cent of what is in use. */
const PER_CENT = 20;

/**
 * Keeps the heap of this process, and of its threads, near what it uses. V8 lets it grow the further the less its collections find to do, so
 * that a process that does the same work for hours would take more and more.
 */
export function growLittle(): void {
  setFlagsFromString(`--heap-growing-percent=${PER_CENT}`);
}
