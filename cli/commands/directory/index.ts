import type { Command } from 'commander';
import type { CliLane } from '../../cli-lane.ts';
import type { CliContext } from '../../context.ts';
import { withDryRun, withOutput, withServer } from '../../options.ts';
import { type ApplyDirectoryOptions, applyDirectory } from './apply-directory.ts';
import { type DiffDirectoryOptions, diffDirectory } from './diff-directory.ts';
import { type ExportDirectoryOptions, exportDirectory } from './export-directory.ts';

export const directory: CliLane = { apply: applyCommand, diff: diffCommand, export: exportCommand };

const FILE = 'directory with a folder for each kind, or a file whose records say their kind; - for stdin';

const withPlan = (command: Command): Command =>
  command
    .requiredOption('-f, --file <path>', FILE)
    .option('--with-state', 'also what runs have reached on components')
    .option('--prune', 'also delete what the directory lacks, of the kinds that have a folder')
    .option('--prune-components', 'with --prune: components too');

/** `muster apply -f DIR` */
function applyCommand(program: Command, context: CliContext): void {
  withPlan(withDryRun(withServer(program.command('apply'))))
    .description('make sources, options, configurations, components, schedules and webhooks as a directory says them')
    .option('-y, --yes', 'ask nothing; without a terminal it is needed to delete more than one record')
    .action((options: ApplyDirectoryOptions) => applyDirectory(context, options));
}

/** `muster diff -f DIR` */
function diffCommand(program: Command, context: CliContext): void {
  withPlan(withOutput(program.command('diff')))
    .description('show what `apply` of a directory would change; the exit status is 1 when anything differs')
    .action((options: DiffDirectoryOptions) => diffDirectory(context, options));
}

/** `muster export DIR` */
function exportCommand(program: Command, context: CliContext): void {
  withServer(program.command('export'))
    .description('write the records that `apply` takes into a directory, without values of secrets')
    .argument('<directory>')
    .option('--with-state', 'also what runs have reached on components')
    .action((path: string, options: ExportDirectoryOptions) => exportDirectory(context, path, options));
}
