import { Argument, type Command } from 'commander';
import type { CliContext } from '../../context.ts';
import { apiOf } from '../../options.ts';
import { oneLine } from '../../terminal/neutralise.ts';
import { candidates } from './candidates.ts';
import { SCRIPTS, SHELLS, type Shell } from './completion-scripts.ts';
import { knownNames } from './known-names.ts';

/** `muster completion bash|zsh|fish` */
export function completionCommand(program: Command, context: CliContext): void {
  program
    .command('completion')
    .description('write the script that completes commands, flags and names in a shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText(
      'after',
      `
bash: source <(./muster completion bash)
zsh:  source <(./muster completion zsh)
fish: ./muster completion fish | source`,
    )
    .action((shell: Shell) => context.out.write(SCRIPTS[shell]));
}

/** What the scripts ask: the words of a command line so far, the last of them unfinished. No person sees it in a help. */
export function completeCommand(program: Command, context: CliContext): void {
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      const names = (kind: string, url: string | undefined, before: readonly string[]) =>
        knownNames(context, apiOf(context, url === undefined ? {} : { url }), kind, before);
      const found = await candidates(program, words, names);
      context.out.write(found.map(({ word, text }) => `${oneLine(word)}\t${oneLine(text)}\n`).join(''));
    });
}
