import type { Command } from 'commander';
import type { ScheduleView } from '../../../domain/schedules/schedule-schema.ts';
import { type ApiRequest, segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';
import { replacesNothing } from '../../input/changed-members.ts';
import { type Document, readDocuments, requiredText } from '../../input/documents.ts';
import {
  apiOf,
  type OutputOptions,
  perform,
  type WatchOptions,
  type WriteOptions,
  withDryRun,
  withLimit,
  withOutput,
  withServer,
  withWatch,
} from '../../options.ts';
import { counted } from '../../output/names.ts';
import { renderOne, writeData, writeList } from '../../output/render.ts';
import { watching } from '../../watch.ts';
import { type FieldOptions, fieldsOf, withFields } from './schedule-fields.ts';
import { scheduleRunCommands } from './schedule-run-commands.ts';
import { scheduleDetails, scheduleView } from './schedule-view.ts';

const SCHEDULES = '/api/v1/schedules';
const schedulePath = (name: string): string => `${SCHEDULES}/${segment(name)}`;

/** Members of an answer that a request does not take. */
const COMPUTED = [
  ...['id', 'pause', 'synced', 'sync_error', 'created_at', 'updated_at', 'updated_by', 'last_run'],
] as const;

type Write = OutputOptions & WriteOptions;

/** `muster schedule ...` */
export function scheduleCommands(program: Command, context: CliContext): void {
  const noun = program.command('schedule').description('what is done at times of the clock');
  readCommands(noun, context);
  writeCommands(noun, context);
  scheduleRunCommands(noun, context);
}

function readCommands(noun: Command, context: CliContext): void {
  withWatch(withLimit(withOutput(noun.command('list'))))
    .description('list schedules')
    .action(async (options: OutputOptions & WatchOptions & { limit?: number }) => {
      const api = apiOf(context, options);
      await watching(context, options, async () => {
        const records = await allPages<ScheduleView>(api, SCHEDULES, 'schedules', {}, options.limit);
        await writeList(context, scheduleView, records, options);
      });
    });

  withWatch(withOutput(noun.command('get')))
    .description('show one schedule with its next times and its last run')
    .argument('<name>')
    .action(async (name: string, options: OutputOptions & WatchOptions) => {
      const api = apiOf(context, options);
      await watching(context, options, async () => {
        const record = await api.json<ScheduleView>({ method: 'GET', path: schedulePath(name) });
        const times = await timesOf(() =>
          api.json<{ times: string[] }>({ method: 'GET', path: `${schedulePath(name)}/next` }),
        );
        const details = (schedule: ScheduleView) => scheduleDetails(schedule, times);
        writeData(context, await renderOne(scheduleView, record, options.output, details));
      });
    });
}

/** The next times; none while the engine does not say them. */
async function timesOf(ask: () => Promise<{ times: string[] }>): Promise<string[]> {
  try {
    return (await ask()).times;
  } catch (error) {
    if (error instanceof CliFailure && error.exit === EXIT.unreachable) return [];
    throw error;
  }
}

function writeCommands(noun: Command, context: CliContext): void {
  withFields(withDryRun(withOutput(noun.command('create'))))
    .description('make a schedule; one of that name must not be there')
    .argument('<name>')
    .option('--paused', 'nothing begins until it is resumed')
    .action(async (name: string, options: Write & FieldOptions & { paused?: boolean }) => {
      if (options.cron === undefined)
        throw usage('a schedule needs its times', 'give --cron, for example --cron "0 3 * * *"');
      const body = { name, ...fieldsOf(options), ...(options.paused ? { paused: true } : {}) };
      await write(context, { method: 'POST', path: SCHEDULES, body }, options, `schedule ${name} created`);
    });

  withFields(withDryRun(withOutput(noun.command('update'))))
    .description('change what is given of a schedule')
    .argument('<name>')
    .action(async (name: string, options: Write & FieldOptions) => {
      const body = fieldsOf(options);
      if (Object.keys(body).length === 0)
        throw usage('nothing to change was given', '--help shows what can be changed');
      const request = { method: 'PATCH', path: schedulePath(name), body } as const;
      await write(context, request, options, `schedule ${name} changed`);
    });

  withDryRun(withOutput(noun.command('apply')))
    .description('make or replace schedules from JSON or YAML (PUT); whether one that is there is paused stays')
    .requiredOption('-f, --file <file>', 'file with one or many records, - for stdin')
    .action((options: Write & { file: string }) => applySchedules(context, options));

  withDryRun(withServer(noun.command('delete')))
    .description('delete schedules; what their runs have made stays')
    .argument('<name...>')
    .action(async (names: string[], options: WriteOptions) => {
      const api = apiOf(context, options);
      for (const name of names) {
        await perform(context, api, { method: 'DELETE', path: schedulePath(name) }, options);
        if (!options.dryRun) say(context, `schedule ${name} deleted`);
      }
    });

  withDryRun(withOutput(noun.command('pause')))
    .description('let times pass until it is resumed')
    .argument('<name>')
    .option('--note <text>', 'why')
    .action(async (name: string, options: Write & { note?: string }) => {
      const body = options.note === undefined ? {} : { note: options.note };
      await write(
        context,
        { method: 'POST', path: `${schedulePath(name)}/pause`, body },
        options,
        `schedule ${name} paused`,
      );
    });

  withDryRun(withOutput(noun.command('resume')))
    .description('let a paused schedule go on')
    .argument('<name>')
    .action(async (name: string, options: Write) => {
      const path = `${schedulePath(name)}/resume`;
      await write(context, { method: 'POST', path, body: {} }, options, `schedule ${name} resumed`);
    });
}

/** Makes or replaces each schedule of the file that is not there as the file says. */
async function applySchedules(context: CliContext, options: Write & { file: string }): Promise<void> {
  const records = await readDocuments(context, options.file, 'schedules');
  const names = records.map((record, index) => requiredText(record, 'name', `schedule ${index}`));
  let changed = 0;
  for (const [index, record] of records.entries()) {
    const name = names[index] as string;
    const { name: _name, paused, ...body } = record;
    for (const member of COMPUTED) delete body[member];
    const before = await storedSchedule(context, name, options);
    if (before !== undefined && replacesNothing(before, body, [...COMPUTED, 'name', 'paused'])) {
      say(context, `schedule ${name} unchanged`);
      continue;
    }
    const made = before === undefined && paused === true && (await makePaused(context, name, body, options));
    // A file may leave out members that have a default.
    const kept = (stored: ScheduleView) =>
      before !== undefined && replacesNothing(before, { ...stored }, [...COMPUTED, 'paused']);
    const request = { method: 'PUT', path: schedulePath(name), body } as const;
    const done = (stored: ScheduleView) => `schedule ${name} ${kept(stored) ? 'unchanged' : 'stored (PUT)'}`;
    const stored = made ? undefined : await write(context, request, options, done);
    if (stored === undefined || !kept(stored)) changed += 1;
  }
  if (changed === 0) say(context, `0 changed: ${counted(records.length, 'schedule')} as in the file`);
}

async function storedSchedule(
  context: CliContext,
  name: string,
  options: Write,
): Promise<(ScheduleView & Document) | undefined> {
  try {
    return await apiOf(context, options).json({ method: 'GET', path: schedulePath(name) });
  } catch (error) {
    if (error instanceof CliFailure && error.exit === EXIT.notFound) return undefined;
    throw error;
  }
}

/**
 * Makes a schedule that was saved while it was paused: a PUT would make it active. False where one of its name is there: a PUT
 * leaves that paused or not, as it is.
 */
async function makePaused(context: CliContext, name: string, body: Document, options: Write): Promise<boolean> {
  const request = { method: 'POST', path: SCHEDULES, body: { name, ...body, paused: true } } as const;
  try {
    await write(context, request, options, `schedule ${name} created, paused`);
    return !options.dryRun;
  } catch (error) {
    if (error instanceof CliFailure && error.code === 'schedule_exists') return false;
    throw error;
  }
}

async function write(
  context: CliContext,
  request: ApiRequest,
  options: Write,
  done: string | ((stored: ScheduleView) => string),
): Promise<ScheduleView | undefined> {
  const stored = await perform<ScheduleView>(context, apiOf(context, options), request, options);
  if (stored === undefined) return undefined;
  await writeList(context, scheduleView, [stored], options);
  say(context, typeof done === 'string' ? done : done(stored));
  if (!stored.synced) say(context, `it does not run yet: ${stored.sync_error}`);
  return stored;
}
