const ERROR_MAX = 500;

/** What the engine said, in one line: its own words behind those of its client. */
export function engineSentence(error: unknown): string {
  const words: string[] = [];
  for (let at: unknown = error; at instanceof Error && words.length < 3; at = at.cause) words.push(at.message);
  return (words.join(': ') || String(error)).replace(/\s+/g, ' ').slice(0, ERROR_MAX);
}
