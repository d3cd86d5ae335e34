import type { Command } from 'commander';
import { examplesOf } from '../../../cli/examples.ts';
import { EXIT } from '../../../cli/failure.ts';
import { GLOBAL_HELP } from '../../../cli/globals.ts';
import { commandTree } from './command-tree.ts';

const HEAD = `# Commands

This page is written by \`npm run docs\` from the commands themselves. [The command line](command-line.md) explains them.
`;

const STATUSES: Readonly<Record<keyof typeof EXIT, string>> = {
  done: 'done',
  failed: 'finished but failed, or different',
  usage: 'usage',
  notFound: 'not found',
  notAllowed: 'not allowed',
  conflict: 'conflict',
  timedOut: 'timed out',
  unreachable: 'unreachable',
  interrupted: 'interrupted',
};

/** Text that Markdown shows as it is. */
const plain = (text: string): string => text.replace(/[<>|*_]/g, (sign) => `\\${sign}`);

/** `docs/cli.md`: each command with its arguments, flags and examples. */
export function cliPage(): string {
  const root = commandTree();
  const nouns = root.commands.filter((command) => !isHidden(command));
  const statuses = Object.entries(EXIT).map(([word, status]) => `- ${status}: ${STATUSES[word as keyof typeof EXIT]}`);
  return [
    HEAD,
    `${plain(GLOBAL_HELP.trim().split('\n').join(' '))}\n`,
    `Exit statuses:\n\n${statuses.join('\n')}\n`,
    ...nouns.flatMap((noun) => (noun.commands.length === 0 ? [partOf(noun, 2)] : [headOf(noun), ...verbsOf(noun)])),
  ].join('\n');
}

const isHidden = (command: Command): boolean =>
  command.parent !== null && !command.parent.createHelp().visibleCommands(command.parent).includes(command);

const headOf = (noun: Command): string => `## ${noun.name()}\n\n${plain(noun.description())}\n`;

const verbsOf = (noun: Command): string[] =>
  noun.commands.filter((verb) => !isHidden(verb)).map((verb) => partOf(verb, 3));

function partOf(command: Command, level: number): string {
  const words = command.parent?.parent == null ? [command.name()] : [command.parent.name(), command.name()];
  const path = words.join(' ');
  const help = command.createHelp();
  const given = help.visibleArguments(command).map((one) => [help.argumentTerm(one), help.argumentDescription(one)]);
  const flags = help
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
    .map((one) => [help.optionTerm(one), help.optionDescription(one)]);
  const rows = [...given, ...flags].map(
    ([term = '', text = '']) => `- \`${term}\`${text === '' ? '' : `: ${plain(text)}`}`,
  );
  const examples = examplesOf(path).map((example) => `    ./muster ${example}`);
  return [
    `${'#'.repeat(level)} ${path}\n`,
    `${plain(command.description())}\n`,
    `    ./muster ${path} ${command.usage()}\n`,
    ...(rows.length > 0 ? [`${rows.join('\n')}\n`] : []),
    // Two blocks of code have to be apart.
    ...(examples.length > 0 ? [`${examples.length > 1 ? 'Examples' : 'Example'}:\n\n${examples.join('\n')}\n`] : []),
  ].join('\n');
}
