import { type Command, Option } from 'commander';
import type { ValidateOptions, WatchesReport } from '../../../deploy/operator/validate-watches.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';
import { cell, type View } from '../../output/columns.ts';
import type { Format } from '../../output/formats.ts';
import { counted } from '../../output/names.ts';
import { renderValue, writeData, writeList } from '../../output/render.ts';
import { changeCommands } from './change-resources.ts';
import { readCommands } from './read-resources.ts';
import { logCommand } from './reconcile-logs.ts';

type Entry = WatchesReport['entries'][number];
type Finding = WatchesReport['errors'][number];

const FORMS = ['table', 'json', 'yaml'] as const satisfies readonly Format[];

const gvkOf = ({ group, version, kind }: Entry): string => `${group}/${version} ${kind}`;
const scriptOf = ({ playbook, role }: Pick<Entry, 'playbook' | 'role'>): string => cell(playbook ?? role);

const view: View<Entry> = {
  noun: 'entries',
  name: gvkOf,
  columns: [
    { title: 'GROUP', value: ({ group }) => group },
    { title: 'VERSION', value: ({ version }) => version },
    { title: 'KIND', value: ({ kind }) => kind },
    { title: 'PLAYBOOK OR ROLE', value: scriptOf },
    { title: 'FINALIZER', value: ({ finalizer }) => cell(finalizer?.name) },
    { title: 'AT ONCE', value: (entry) => cell(entry.max_concurrent_reconciles) },
  ],
};

/** `entry 2, finalizer.role: W8: role: nope was not found`, and below it how to mend it. */
function lines({ code, entry, field, message, fix, looked_at: lookedAt = [] }: Finding): string {
  const named = field === null || message.startsWith(`${field}:`) ? '' : `, ${field}`;
  const place = entry === null ? '' : `entry ${entry}${named}: `;
  return [`${place}${code}: ${message}`, ...lookedAt.map((path) => `  looked at ${path}`), `  ${fix}`].join('\n');
}

/** `muster operator ...` */
export function operatorCommands(program: Command, context: CliContext): void {
  const noun = program.command('operator').description('custom resources that playbooks and roles reconcile');

  noun
    .command('validate')
    .description('check a watches.yaml with the environment and the files of this machine; no server is asked')
    .argument('[file]', 'the file (default: watches.yaml in the home)')
    .option('--home <folder>', 'folder in which the operator will be started, where relative paths begin (default: .)')
    .addOption(new Option('-o, --output <format>', 'form of the data').choices([...FORMS]).default('table'))
    .action(
      async (file: string | undefined, options: Pick<ValidateOptions, 'home'> & { output: (typeof FORMS)[number] }) => {
        if (context.operatorHome === undefined) throw usage('this command line has no files to check');
        const checked = await context.operatorHome.validate({ file, home: options.home });
        const { errors, warnings, entries } = checked.report;
        if (options.output === 'table') {
          if (entries.length > 0) await writeList(context, view, entries, 'table');
          for (const warning of warnings) say(context, `warning: ${lines(warning)}`);
          for (const error of errors) say(context, `error: ${lines(error)}`);
        } else {
          writeData(context, await renderValue(checked.report, options.output));
        }
        if (errors.length > 0) {
          const found = counted(errors.length, 'mistake');
          throw new CliFailure('watches_invalid', `${checked.file}: ${found}`, EXIT.usage);
        }
      },
    );

  noun
    .command('run')
    .description('run the operator of this folder until it is stopped; its flags are those of ansible-operator')
    .argument('[flags...]', 'see docs/lanes/operator.md')
    .allowUnknownOption()
    .action(async (flags: string[]) => {
      if (context.operatorHome === undefined) throw usage('this command line starts no processes');
      context.exit = await context.operatorHome.run(flags, (line) => say(context, line), context.signal);
    });

  readCommands(noun, context);
  changeCommands(noun, context);
  logCommand(noun, context);
}
