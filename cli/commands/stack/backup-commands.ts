import type { Command } from 'commander';
import { type CliContext, say } from '../../context.ts';
import { stackOf } from './stack-commands.ts';

/** `muster backup` and `muster restore`. */
export function backupCommands(program: Command, context: CliContext): void {
  program
    .command('backup')
    .description('save the records, keys, passwords and ConfigMaps of the stack in one file, while it works')
    .argument('<file>', 'file that is made, readable for you alone; it holds keys, so keep it as you keep them')
    .option('--images', 'save the files of images too')
    .action(async (file: string, { images }: { images?: boolean }) => {
      const tell = (line: string) => say(context, line);
      const report = await stackOf(context).backup(file, { images: images ?? false }, tell, context.signal);
      const size =
        report.bytes < 2 ** 20
          ? `${Math.ceil(report.bytes / 2 ** 10)} KiB`
          : `${(report.bytes / 2 ** 20).toFixed(1)} MiB`;
      say(context, `saved in ${report.path} (${size}): ${report.rows} records and ${report.files} files`);
      for (const line of report.missing) say(context, `not in it: ${line}`);
      say(context, 'it holds all keys: whoever can read it can read all secrets');
    });

  program
    .command('restore')
    .description('fill an empty data directory from a file that `muster backup` made')
    .argument('<file>', 'the backup')
    .action(async (file: string) => {
      const { takenAt, lost, warnings } = await stackOf(context).restore(
        file,
        (line) => say(context, line),
        context.signal,
      );
      say(context, `restored as of ${takenAt}`);
      if (lost.sessions.length > 0) {
        const [shown, more] = [lost.sessions.slice(0, 10), lost.sessions.length - 10];
        const names = `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
        say(context, `sessions that were at work then have ended as unknown: ${names}`);
      }
      for (const line of warnings) say(context, `warning: ${line}`);
      say(context, '`./muster up` starts it');
    });
}
