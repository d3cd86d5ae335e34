/** Whether another try may have taken up the work, in the same folder: it was taken from us, not cancelled. */
export function mayBeElsewhere(signal: AbortSignal): boolean {
  return signal.aborted && !(signal.reason instanceof Error && signal.reason.message === 'CANCELLED');
}
