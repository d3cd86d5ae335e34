import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ScheduleNext, ScheduleRunView, ScheduleTriggered } from '../../../domain/schedules/schedule-schema.ts';
import { type ApiClient, segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, interrupted } from '../../failure.ts';
import { integer } from '../../input/pairs.ts';
import {
  apiOf,
  type OutputOptions,
  perform,
  type WaitOptions,
  type WatchOptions,
  type WriteOptions,
  withDryRun,
  withLimit,
  withOutput,
  withWait,
  withWatch,
} from '../../options.ts';
import { isValueFormat } from '../../output/formats.ts';
import { renderOne, renderValue, writeData, writeList } from '../../output/render.ts';
import { watching } from '../../watch.ts';
import { scheduleRunDetails, scheduleRunView } from './schedule-view.ts';

const path = (name: string, rest: string): string => `/api/v1/schedules/${segment(name)}/${rest}`;
const LOOK_MS = 1_000;

/** `muster schedule trigger|next|runs` */
export function scheduleRunCommands(noun: Command, context: CliContext): void {
  withWait(withDryRun(withOutput(noun.command('trigger'))))
    .description('ask for a run now; while another goes on it waits, unless the schedule lets them overlap')
    .argument('<name>')
    .action(async (name: string, options: OutputOptions & WriteOptions & WaitOptions) => {
      const api = apiOf(context, options);
      const request = { method: 'POST', path: path(name, 'trigger') } as const;
      const asked = await perform<ScheduleTriggered>(context, api, request, options);
      if (asked === undefined) return;
      if (!asked.synced) say(context, `the run is kept, but does not begin yet: ${asked.sync_error}`);
      const { synced: _synced, sync_error: _error, ...requested } = asked;
      const run = options.wait ? await ended(context, api, requested, options.timeout) : requested;
      writeData(context, await renderOne(scheduleRunView, run, options.output, scheduleRunDetails));
      if (options.wait && run.state !== 'succeeded') context.exit = EXIT.failed;
    });

  withWatch(withOutput(noun.command('next')))
    .description('the next times, as the engine has them')
    .argument('<name>')
    .option('--count <count>', 'how many, at most 10', integer(1))
    .action(async (name: string, options: OutputOptions & WatchOptions & { count?: number }) => {
      const api = apiOf(context, options);
      await watching(context, options, async () => {
        const query = { count: options.count };
        const next = await api.json<ScheduleNext>({ method: 'GET', path: path(name, 'next'), query });
        const { output } = options;
        writeData(
          context,
          isValueFormat(output) ? await renderValue(next, output) : next.times.map((at) => `${at}\n`).join(''),
        );
        if (next.paused) say(context, `schedule ${name} is paused: these times will pass`);
        const { skipped_overlap: skipped, missed } = next;
        if (skipped + missed > 0) say(context, `left out so far: ${skipped} while a run went on, ${missed} missed`);
      });
    });

  withWatch(withLimit(withOutput(noun.command('runs'))))
    .description('what became of its runs, the newest first')
    .argument('<name>')
    .action(async (name: string, options: OutputOptions & WatchOptions & { limit?: number }) => {
      const api = apiOf(context, options);
      await watching(context, options, async () => {
        const runs = await allPages<ScheduleRunView>(api, path(name, 'runs'), 'runs', {}, options.limit);
        await writeList(context, scheduleRunView, runs, options);
      });
    });
}

/** Waits for the end of a run. */
async function ended(
  context: CliContext,
  api: ApiClient,
  { id, schedule }: ScheduleRunView,
  timeout: number | undefined,
): Promise<ScheduleRunView> {
  const deadline = context.now() + (timeout ?? Number.POSITIVE_INFINITY) * 1000;
  for (;;) {
    const run = await api.json<ScheduleRunView>({ method: 'GET', path: path(schedule, `runs/${id}`) });
    if (run.ended_at !== null) return run;
    if (context.now() > deadline) {
      throw new CliFailure('timed_out', `run ${id} is ${run.state} after ${timeout} s; it goes on`, EXIT.timedOut);
    }
    await pause(LOOK_MS, undefined, { signal: context.signal }).catch(() => {
      throw interrupted();
    });
  }
}
