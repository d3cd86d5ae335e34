import { type Command, InvalidArgumentError } from 'commander';
import type { CliContext } from '../../context.ts';
import { withOutput, withReason } from '../../options.ts';
import { IMPORT_KINDS, type ImportKind } from './import-report.ts';
import { type ImportOptions, runImport } from './run-import.ts';

/** Collects kinds, written one by one or with commas. */
function kinds(word: string, before: ImportKind[] = []): ImportKind[] {
  const named = word.split(',').map((text) => IMPORT_KINDS.find((known) => known === text.trim()));
  if (named.includes(undefined)) throw new InvalidArgumentError(`kinds are ${IMPORT_KINDS.join(', ')}.`);
  return [...before, ...named.filter((kind) => kind !== undefined)];
}

/** `muster import` */
export function importCommand(program: Command, context: CliContext): void {
  withReason(withOutput(program.command('import')))
    .description('take over sources, configurations, options and components of another CFS (version 3)')
    .requiredOption('--from <url>', 'the other CFS: its service, or a gateway with /apis/cfs')
    .option('--from-token-file <file>', 'file with the token it wants (default: MUSTER_IMPORT_TOKEN)')
    .option('--from-ca <file>', 'CA of its certificate (PEM)')
    .option('--only <kinds>', `nothing but these: ${IMPORT_KINDS.join(', ')}`, kinds)
    .option('--skip <kinds>', 'all but these', kinds)
    .option('--keep-existing', 'create what is missing and leave alone what is here')
    .option('--no-enable', 'take components over disabled, so that nothing starts by itself')
    .option('--dry-run', 'show what would change, and change nothing')
    .action((options: ImportOptions) => runImport(context, options));
}
