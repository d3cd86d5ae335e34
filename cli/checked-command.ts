import { Command, type ErrorOptions } from 'commander';
import { someOf } from './output/names.ts';

/** Refusals that may only come of an option that is misspelt: that one is told instead. */
const MAY_FOLLOW = new Set([
  'commander.missingMandatoryOptionValue',
  'commander.conflictingOption',
  'commander.missingArgument',
  'commander.excessArguments',
]);

/** What commander itself says of an unknown option, with a name that is like it; its types leave this method out. */
interface Suggesting {
  unknownOption(flag: string): never;
}

/** A command that tells an unknown option before what is missing without it, and names the one that was most likely meant. */
export class CheckedCommand extends Command {
  #unknown: string | undefined;

  override createCommand(name?: string): Command {
    return new CheckedCommand(name);
  }

  override parseOptions(words: string[]): ReturnType<Command['parseOptions']> {
    const parsed = super.parseOptions(words);
    this.#unknown = parsed.unknown.find((word) => /^--?[^-]/.test(word))?.split('=')[0];
    return parsed;
  }

  override error(message: string, options?: ErrorOptions): never {
    const code = options?.code ?? '';
    const flag = this.#unknown;
    if (code === 'commander.unknownCommand') {
      const names = this.createHelp()
        .visibleCommands(this)
        .map((command) => command.name());
      const hint = suggestionIn(message) ?? `The commands here: ${names.join(' ')}`;
      return super.error(`error: unknown command '${this.args[0]}'. ${hint}`, options);
    }
    if (flag !== undefined && MAY_FOLLOW.has(code)) return (this as unknown as Suggesting).unknownOption(flag);
    if (code === 'commander.missingArgument') {
      return super.error(`${message}: write it as \`./${pathOf(this)} ${this.usage()}\``, options);
    }
    if (flag === undefined || code !== 'commander.unknownOption') return super.error(message, options);
    const hint = suggestionIn(message) ?? this.#begun(flag.replace(/^-+/, ''));
    return super.error(`error: unknown option '${flag}'. ${hint}`, options);
  }

  /** The options whose names begin or end with a word (`conf` of --configuration, `configuration` of -configuration), else all. */
  #begun(word: string): string {
    const options = this.createHelp().visibleOptions(this);
    const found = options.flatMap(({ long }) =>
      long && word.length > 1 && (long.startsWith(`--${word}`) || long.endsWith(`-${word}`)) ? [long] : [],
    );
    if (found.length > 0) return `Did you mean ${someOf(found, ' or ')}?`;
    return `The options here: ${options.flatMap(({ long }) => long ?? []).join(' ')}`;
  }
}

/** `muster secret set` */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** The suggestion that a message of commander ends with. */
const suggestionIn = (message: string): string | undefined => /\((Did you mean .*\?)\)$/s.exec(message)?.[1];
