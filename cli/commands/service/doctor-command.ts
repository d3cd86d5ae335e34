import type { Command } from 'commander';
import { type CliContext, say } from '../../context.ts';
import { EXIT } from '../../failure.ts';
import { type OutputOptions, withOutput, withTable } from '../../options.ts';
import type { View } from '../../output/columns.ts';
import { isValueFormat } from '../../output/formats.ts';
import { renderValue, writeData, writeList } from '../../output/render.ts';
import { type Check, clientChecks } from './client-checks.ts';
import { serverChecks } from './server-checks.ts';

const view: View<Check> = {
  noun: 'checks',
  name: ({ name }) => name,
  columns: [
    { title: 'CHECK', value: ({ name }) => name },
    { title: 'OK', value: ({ ok }) => (ok ? 'yes' : 'no') },
    { title: 'DETAIL', value: ({ detail }) => detail },
    { title: 'FIX', value: ({ fix }) => fix ?? '' },
  ],
};

/** `muster doctor` */
export function doctorCommand(program: Command, context: CliContext): void {
  withTable(withOutput(program.command('doctor')))
    .description('check address, certificate, token, versions and clock, and what the server says of itself')
    .action(async (options: OutputOptions) => {
      const { checks: own, status } = await clientChecks(context, options);
      const checks = [...own, ...(status === null ? [] : serverChecks(status))];
      if (options.output === 'json' || options.output === 'yaml') {
        writeData(context, await renderValue({ checks }, options.output));
      } else await writeList(context, view, checks, options);
      const failed = checks.filter(({ ok }) => !ok);
      if (!isValueFormat(options.output)) {
        for (const { name, fix } of failed) if (fix !== null) say(context, `${name}: ${fix}`);
      }
      context.exit = failed.length === 0 ? EXIT.done : EXIT.failed;
    });
}
