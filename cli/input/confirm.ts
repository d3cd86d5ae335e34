import { createInterface } from 'node:readline';
import type { CliContext } from '../context.ts';
import { CliFailure, EXIT, interrupted } from '../failure.ts';
import { manyLines } from '../terminal/neutralise.ts';

/**
 * Asks a person whether to go on, and throws unless the answer is yes. Where stdin is no terminal, or nothing is to be asked, no question
 * is put: a script has said what it wants, and goes on.
 */
export async function confirm(context: CliContext, question: string): Promise<void> {
  if (!context.stdin.isTTY || context.noInput) return;
  context.err.write(`${manyLines(question)} [y/N] `);
  const answer = await nextLine(context);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliFailure('not_confirmed', 'nothing was done', EXIT.usage);
}

/**
 * Asks a person before a write to more than one record. Where stdin is no terminal nobody can answer, and a script has to say that it
 * means it. Throws unless the answer is yes.
 */
export async function confirmMany(context: CliContext, question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return;
  if (context.stdin.isTTY && !context.noInput) return confirm(context, question);
  throw new CliFailure('not_confirmed', `${question} Nothing was done`, EXIT.usage, 'give --yes');
}

/** The next line of stdin; empty when there is none. */
async function nextLine(context: CliContext): Promise<string> {
  const lines = createInterface({ input: context.stdin, terminal: false });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve).once('close', () => resolve(''));
      const stop = () => reject(interrupted());
      if (context.signal.aborted) stop();
      else context.signal.addEventListener('abort', stop, { once: true });
    });
  } finally {
    lines.close();
  }
}
