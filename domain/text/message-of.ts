/** Returns what an error says, for messages: what was thrown may be no Error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
