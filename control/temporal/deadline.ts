/** Returns the instant until which Temporal is waited for, ms: deadlines of gRPC are instants of the process's own clock. */
export function deadlineIn(ms: number): number {
  return Date.now() + ms;
}
