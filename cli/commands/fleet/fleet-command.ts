import type { Command } from 'commander';
import type { Fleet } from '../../../domain/fleet/schema.ts';
import type { CliContext } from '../../context.ts';
import { apiOf, type OutputOptions, type WatchOptions, withOutput, withWatch } from '../../options.ts';
import { isValueFormat } from '../../output/formats.ts';
import { renderValue, writeData } from '../../output/render.ts';
import { fieldList, table } from '../../output/table.ts';
import { watching } from '../../watch.ts';
import { batcherLine } from '../batches/batch-view.ts';

/** `muster fleet [--watch]` */
export function fleetCommand(program: Command, context: CliContext): void {
  withWatch(withOutput(program.command('fleet')))
    .description('the fleet in numbers: components by status and configuration, and what the batcher does')
    .action(async (options: OutputOptions & WatchOptions) => {
      const api = apiOf(context, options);
      await watching(context, options, async () => {
        const fleet = await api.json<Fleet>({ method: 'GET', path: '/api/v1/fleet' });
        const { output } = options;
        writeData(context, isValueFormat(output) ? await renderValue(fleet, output) : fleetText(fleet));
      });
    });
}

function fleetText({ total, by_status, enabled, disabled, by_configuration, batcher, stop }: Fleet): string {
  const fields: [string, string][] = [
    ['components', String(total)],
    ...Object.entries(by_status).map(([status, count]): [string, string] => [status, String(count)]),
    ['enabled', String(enabled)],
    ['disabled', String(disabled)],
    ['batcher', batcherLine(batcher)],
    ['everything', stop.stopped ? `is stopped since ${stop.since}: ${stop.reason}` : ''],
  ];
  const wanted = table(
    [
      { title: 'CONFIGURATION', value: ({ configuration }) => configuration || '(none)' },
      { title: 'COMPONENTS', value: ({ count }) => String(count) },
    ],
    by_configuration,
  );
  return by_configuration.length === 0 ? fieldList(fields) : `${fieldList(fields)}\n${wanted}`;
}
