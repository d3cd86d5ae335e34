/** Colours of statuses, for a person who looks at a terminal. */
import type { Sink } from '../../context.ts';

/** Numbers of the terminal's colours. Black is the light one, which can be read on black too. */
const COLOURS: Readonly<Record<string, number>> = {
  PENDING: 36,
  INPROGRESS: 33,
  ERROR_RETRY: 93,
  SUCCESS: 32,
  ERROR: 31,
  NOOP: 90,
  SKIPPED: 34,
  BLOCKED: 35,
};

/** A status at the end of the line of a node or before its message, or before what is counted of it. */
const WORD = /(?<= -> )[A-Z_]+(?= :: |$)|(?<=^|\s)[A-Z_]+(?=: \d)/gm;

/**
 * Returns lines of a report, or of counts, with colours where a person looks at them and wants colours; what could steer the terminal is
 * gone by then.
 */
export function painted(
  { terminal, plain = false, coloured = false }: Pick<Sink, 'terminal' | 'plain' | 'coloured'>,
  text: string,
): string {
  if (!coloured && (!terminal || plain)) return text;
  return text.replace(WORD, (word) =>
    Object.hasOwn(COLOURS, word) ? `\u001b[${COLOURS[word]}m${word}\u001b[0m` : word,
  );
}
