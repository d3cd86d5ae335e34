import { type Command, Option } from 'commander';
import { type ApiClient, type Query, segment } from '../../client/api-client.ts';
import { eventStream } from '../../client/event-stream.ts';
import { allPages } from '../../client/pages.ts';
import type { CliContext } from '../../context.ts';
import { EXIT } from '../../failure.ts';
import { type EventAnswer, textOf } from '../../follow/event-line.ts';
import { connectionNotes, copyLogs, followLogs } from '../../follow/follow-logs.ts';
import { copyLines, copyMatches, type LineOptions } from '../../follow/log-lines.ts';
import { integer } from '../../input/pairs.ts';
import { apiOf, type OutputOptions, type ServerOptions, withLimit, withOutput, withServer } from '../../options.ts';
import { cell, type View } from '../../output/columns.ts';
import { renderList, writeData, writeList } from '../../output/render.ts';
import { type RowOptions, requireRows, rowQuery, withEvents, withRows } from './output-filters.ts';

const path = (name: string): string => `/api/v1/sessions/${segment(name)}`;

const eventView: View<EventAnswer> = {
  noun: 'events',
  name: (event) => String(event.seq),
  columns: [
    { title: 'TIME', value: (event) => event.time },
    { title: 'TYPE', value: (event) => event.type },
    { title: 'LAYER', value: (event) => cell(event.layer) },
    { title: 'ATTEMPT', value: (event) => cell(event.attempt), wide: true },
    { title: 'HOST', value: (event) => cell(event.host) },
    { title: 'RESULT', value: (event) => textOf(event.result) },
    { title: 'TASK', value: (event) => textOf(event.task) || textOf(event.play) },
    { title: 'MESSAGE', value: (event) => textOf(event.message) },
  ],
};

/** What is of the output as a whole. */
const WHOLE = ['follow', 'host', 'tail'];

interface EventOptions extends OutputOptions, RowOptions {
  limit?: number;
  type?: string;
  result?: string;
}

/** Adds `session logs` and `session events`. */
export function outputCommands(noun: Command, context: CliContext): void {
  withRows(withServer(noun.command('logs')))
    .description("show the output of a session's playbooks")
    .argument('<name>')
    .option('--host <name>', 'the results of one host instead')
    .option('--tail <count>', 'begin with the newest so many pieces', integer(1))
    .addOption(
      new Option('--grep <text>', 'only lines that have the text in them, with their numbers').conflicts(WHOLE),
    )
    .addOption(new Option('--failures', 'only lines that say what failed, with their numbers').conflicts(WHOLE))
    .addOption(
      new Option('--since-line <number>', 'from this line of a layer on')
        .argParser(integer(1))
        .conflicts([...WHOLE, 'grep', 'failures']),
    )
    .action(async (name: string, options: ServerOptions & RowOptions & LineOptions) => {
      const api = apiOf(context, options);
      const query = rowQuery(options);
      await requireRows(api, path(name), name, options);
      if (options.sinceLine !== undefined) return copyLines(context, api, path(name), options);
      if (options.grep !== undefined || options.failures) return copyMatches(context, api, path(name), options);
      await (options.follow ? followLogs(context, api, path(name), query) : copyLogs(context, api, path(name), query));
    });

  withEvents(withRows(withLimit(withOutput(noun.command('events')))))
    .description('show what happened in a session: tasks, results of hosts, warnings')
    .argument('<name>')
    .option('--host <name>', 'only this host')
    .option('--tail <count>', 'begin with the newest so many', integer(1))
    .action(async (name: string, options: EventOptions) => {
      const api = apiOf(context, options);
      const query = { ...rowQuery(options), type: options.type, result: options.result };
      await requireRows(api, path(name), name, options);
      if (options.follow) return followEvents(context, api, name, query, options);
      const events = await allPages<EventAnswer>(api, `${path(name)}/events`, 'events', query, options.limit);
      await writeList(context, eventView, events, options);
    });
}

/** One line an event; columns cannot be aligned with lines to come, so a table is tab-separated with titles on top. */
async function followEvents(
  context: CliContext,
  api: ApiClient,
  name: string,
  query: Query,
  { output }: OutputOptions,
): Promise<void> {
  const format = output === 'table' || output === 'wide' ? 'tsv' : output === 'json' ? 'jsonl' : output;
  const options = { query, signal: context.signal, ...connectionNotes(context) };
  let first = true;
  for await (const { data } of eventStream(api, `${path(name)}/events`, options)) {
    const lines = await renderList(eventView, [JSON.parse(data) as EventAnswer], format);
    writeData(context, format === 'tsv' && !first ? lines.slice(lines.indexOf('\n') + 1) : lines);
    first = false;
  }
  if (context.signal.aborted) context.exit = EXIT.interrupted;
}
