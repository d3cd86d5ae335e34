/** Why a file cannot be read, for people. */

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'you may not read it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is no folder',
};

/** The reason that the system gives, in words. */
export function fileTrouble(error: unknown): string {
  const { code = '' } = error as { code?: string };
  return REASONS[code] ?? (error instanceof Error ? error.message : String(error));
}

const CLOSES: Readonly<Record<string, string>> = { ']': '[', '}': '{' };

/**
 * Says of a text in brackets that ends too early which bracket is not closed: `line 2: unexpected end; `[` of line 1 is not closed`. Returns
 * null where all are closed, and for a text that does not begin with a bracket.
 */
export function unclosedBracket(text: string): string | null {
  if (!/^\s*[[{]/.test(text)) return null;
  const open: { bracket: string; line: number }[] = [];
  let line = 1;
  for (const [token] of text.matchAll(/"(?:[^"\\\n]|\\.)*"|[[\]{}\n]/g)) {
    if (token === '\n') line += 1;
    else if (token === '[' || token === '{') open.push({ bracket: token, line });
    else if (open.at(-1)?.bracket === CLOSES[token]) open.pop();
    // Another mistake than an end that came too early.
    else if (CLOSES[token] !== undefined) return null;
  }
  const last = open.at(-1);
  const end = text.trimEnd().split('\n').length;
  return last === undefined
    ? null
    : `line ${end}: unexpected end; \`${last.bracket}\` of line ${last.line} is not closed`;
}
