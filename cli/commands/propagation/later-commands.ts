/** Verbs and nouns of parts that are not built yet: each is refused by its name, so that it is not taken for a word that is misspelt. */
import type { Command } from 'commander';
import type { CliLane } from '../../cli-lane.ts';
import { CliFailure, EXIT } from '../../failure.ts';

/** Verbs of nouns that are there. */
const LATER_VERBS: Readonly<Record<string, readonly string[]>> = {
  resource: ['action', 'validate', 'prefetch', 'clear-all'],
  connection: ['graph'],
  event: ['traverse'],
  change: ['revert', 'test', 'clean-history'],
  plan: ['create', 'filter', 'noop', 'approve', 'restart', 'reset'],
};
/** Nouns of which nothing is there. */
const LATER_NOUNS = ['input', 'propagation'];

/** Returns the nouns of a lane with what is refused by name. */
export function withLater(lane: CliLane): CliLane {
  const nouns = Object.entries(lane).map(([name, add]): [string, CliLane[string]] => [
    name,
    (program, context) => {
      add(program, context);
      const noun = program.commands.find((command) => command.name() === name);
      for (const verb of LATER_VERBS[name] ?? []) if (noun !== undefined) refuse(noun, verb, `${name} ${verb}`);
    },
  ]);
  const later = LATER_NOUNS.map((name): [string, CliLane[string]] => [name, (program) => refuse(program, name, name)]);
  return Object.fromEntries([...nouns, ...later]);
}

function refuse(parent: Command, word: string, named: string): void {
  parent
    .command(word, { hidden: true })
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => {
      throw new CliFailure('not_supported', `this release has no \`${named}\``, EXIT.usage);
    });
}
