import type { Command } from 'commander';
import type { Options } from '../../../domain/configurations/schema.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';
import { pair } from '../../input/pairs.ts';
import { apiOf, type OutputOptions, perform, type WriteOptions, withDryRun, withOutput } from '../../options.ts';
import type { View } from '../../output/columns.ts';
import { isValueFormat } from '../../output/formats.ts';
import { renderList, renderValue, writeData } from '../../output/render.ts';

type OptionRecord = Partial<Options> & Record<string, unknown>;
interface Entry {
  name: string;
  value: unknown;
}

const PATH = '/api/v1/options';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const entriesOf = (record: OptionRecord): Entry[] => Object.entries(record).map(([name, value]) => ({ name, value }));

const entryView: View<Entry> = {
  noun: 'options',
  name: (entry) => entry.name,
  columns: [
    { title: 'OPTION', value: (entry) => entry.name },
    { title: 'VALUE', value: (entry) => textOf(entry.value) },
  ],
};

/** `muster option ...` */
export function optionCommands(program: Command, context: CliContext): void {
  const noun = program.command('option').description('options that apply to everything, live');

  withOutput(noun.command('get'))
    .description('show all options, or the value of one')
    .argument('[name]')
    .action(async (name: string | undefined, options: OutputOptions) => {
      const record = await apiOf(context, options).json<OptionRecord>({ method: 'GET', path: PATH });
      if (name === undefined) return writeOptions(context, record, options);
      const value = optionValue(record, name);
      const { output } = options;
      writeData(context, isValueFormat(output) ? await renderValue(value, output) : `${textOf(value)}\n`);
    });

  withDryRun(withOutput(noun.command('set')))
    .description('change options: name=value, once or more')
    .argument('<name=value...>')
    .action(async (words: string[], options: OutputOptions & WriteOptions) => {
      const api = apiOf(context, options);
      const given = words.reduce<Record<string, string>>((all, word) => optionPair(word, all), {});
      const current = await api.json<OptionRecord>({ method: 'GET', path: PATH });
      const patch = Object.fromEntries(
        Object.entries(given).map(([name, text]) => [name, typed(name, text, optionValue(current, name))]),
      );
      const record = await perform<OptionRecord>(context, api, { method: 'PATCH', path: PATH, body: patch }, options);
      if (record === undefined) return;
      say(context, `changed: ${Object.keys(patch).join(', ')}`);
      const shown = Object.fromEntries(Object.keys(patch).map((name) => [name, record[name]]));
      await writeOptions(context, shown, options);
    });
}

/** One `name=value`; the words come one by one, so commander does not say what is wrong with them. */
function optionPair(word: string, before: Record<string, string>): Record<string, string> {
  try {
    return pair(word, before);
  } catch {
    const name = word.replace(/=.*/s, '') || 'batch_size';
    throw usage(`${word} is no name=value`, `write it as name=value, such as \`./muster option set ${name}=50\``);
  }
}

/** The record itself in the forms for programs, one option a line in the others. */
async function writeOptions(context: CliContext, record: OptionRecord, { output }: OutputOptions): Promise<void> {
  const text = isValueFormat(output)
    ? await renderValue(record, output)
    : await renderList(entryView, entriesOf(record), output);
  writeData(context, text);
}

function optionValue(record: OptionRecord, name: string): unknown {
  if (Object.hasOwn(record, name)) return record[name];
  throw new CliFailure(
    'option_not_found',
    `there is no option ${name}`,
    EXIT.notFound,
    '`./muster option get` shows all',
  );
}

/** The text as the type the option has now; the server checks the value itself. */
function typed(name: string, text: string, current: unknown): unknown {
  if (typeof current === 'number') {
    if (!/^-?[0-9]+$/.test(text)) throw usage(`${name} must be a whole number, not ${text}`);
    return Number.parseInt(text, 10);
  }
  if (typeof current === 'boolean') {
    if (text !== 'true' && text !== 'false') throw usage(`${name} must be true or false, not ${text}`);
    return text === 'true';
  }
  return text;
}
