import { type Command, CommanderError } from 'commander';
import { CheckedCommand } from './checked-command.ts';
import type { CliLane } from './cli-lane.ts';
import { type CliContext, say } from './context.ts';
import { addExamples } from './examples.ts';
import { CliFailure, EXIT, interrupted, mistakeLines, usage } from './failure.ts';
import { GLOBAL_HELP, takeGlobals, withHelp } from './globals.ts';
import { LANES } from './lanes.ts';
import { withFlagsOnly } from './options.ts';
import { FORMATS } from './output/formats.ts';
import { TIME_FORMS } from './output/times.ts';

const EXIT_STATUSES = `
Exit status: 0 done, 1 finished but failed, 2 usage, 3 not found, 4 not allowed, 5 conflict, 6 timed out,
7 unreachable, 130 interrupted.
Data goes to stdout, messages go to stderr.`;

/** Nouns in the order of the help; a noun that is not named here comes last. */
const HELP_ORDER = [
  ...['stack', 'backup', 'session', 'component', 'drift', 'configuration', 'source', 'image', 'batch', 'rollout'],
  ...['option', 'secret', 'schedule', 'import', 'token', 'audit', 'trust', 'webhook', 'run'],
];

/** Returns what adds the nouns of all lanes, in the order of the help. Throws when two lanes have the same noun. */
function inOrder(lanes: readonly CliLane[]): CliLane[string][] {
  const nouns = new Map<string, CliLane[string]>();
  for (const [noun, add] of lanes.flatMap((lane) => Object.entries(lane))) {
    if (nouns.has(noun)) throw new Error(`two lanes have commands of the noun ${noun}`);
    nouns.set(noun, add);
  }
  const place = (noun: string) => (HELP_ORDER.includes(noun) ? HELP_ORDER.indexOf(noun) : HELP_ORDER.length);
  return [...nouns].sort(([one], [other]) => place(one) - place(other)).map(([, add]) => add);
}

/** The whole command line as a tree; its commands act through `context`. */
export function program(context: CliContext): Command {
  const root = new CheckedCommand('muster')
    .version(context.version, '-V, --version', 'show the version')
    .description('Keeps fleets in their declared configuration.')
    .configureHelp({ sortSubcommands: false, helpWidth: context.err.columns() })
    .configureOutput({ writeOut: (text) => context.out.write(text), writeErr: (text) => context.err.write(text) })
    .showHelpAfterError('(--help shows how it is used)')
    .addHelpText('after', EXIT_STATUSES)
    .addHelpText('afterAll', GLOBAL_HELP)
    .hook('preAction', (_root, action) => takeDefaults(action, context.defaults))
    .exitOverride();
  for (const add of inOrder(Object.values(LANES))) add(root, context);
  addExamples(root);
  return root;
}

/** Gives a command what the environment or the context says for flags that were left out. Throws a `usage` failure for a word that is not known. */
function takeDefaults(command: Command, defaults: CliContext['defaults'] = {}): void {
  const takes = (name: string) => command.options.some((option) => option.attributeName() === name);
  for (const [name, known, value] of [
    ['output', FORMATS, defaults.output],
    ['time', TIME_FORMS, defaults.time],
  ] as const) {
    const source = command.getOptionValueSource(name);
    if (value === undefined || !takes(name) || (source !== undefined && source !== 'default')) continue;
    if (!known.some((word) => word === value)) {
      const place = name === 'output' ? 'MUSTER_OUTPUT' : 'MUSTER_TIME';
      throw usage(`${place} or the context says ${value}`, `it is one of ${known.join(', ')}`);
    }
    command.setOptionValueWithSource(name, value, 'config');
  }
}

/** Runs one command line (without the program's name) and answers its exit status; expected failures are printed. */
export async function runCli(args: string[], context: CliContext): Promise<number> {
  try {
    const { words, globals } = takeGlobals(args);
    context.quiet = globals.quiet ?? context.quiet ?? false;
    context.noInput = globals.noInput ?? context.noInput ?? false;
    await program(context).parseAsync(withHelp(withFlagsOnly(words)), { from: 'user' });
    return context.exit;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const failure = context.signal.aborted && !(error instanceof CliFailure) ? interrupted() : error;
    if (!(failure instanceof CliFailure)) throw failure;
    printFailure({ err: context.err }, failure);
    return failure.exit;
  }
}

/** Says on stderr what failed, and what the user can do about it. */
export function printFailure(context: Pick<CliContext, 'err'>, failure: CliFailure): void {
  say(context, `error: ${failure.code}: ${failure.message}`);
  for (const line of mistakeLines(failure.mistakes)) say(context, line);
  if (failure.fix !== undefined) say(context, `  ${failure.fix}`);
}
