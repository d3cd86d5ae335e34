import type { Command } from 'commander';
import type { LogEntry } from '../../../domain/sessions/detail-schema.ts';
import { type ApiClient, type Query, segment } from '../../client/api-client.ts';
import { eventStream } from '../../client/event-stream.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { type CliFailure, EXIT } from '../../failure.ts';
import { type EventAnswer, textOf } from '../../follow/event-line.ts';
import { integer } from '../../input/pairs.ts';
import { apiOf, type OutputOptions, type ServerOptions, withLimit, withOutput, withServer } from '../../options.ts';
import { cell, type View } from '../../output/columns.ts';
import { renderList, writeData, writeList } from '../../output/render.ts';

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

/** Adds `session logs` and `session events`. */
export function outputCommands(noun: Command, context: CliContext): void {
  withServer(noun.command('logs'))
    .description("show the output of a session's playbooks")
    .argument('<name>')
    .option('-f, --follow', 'go on until the session has ended')
    .option('--layer <index>', 'only this layer of the configuration', integer(0))
    .action(async (name: string, options: ServerOptions & { follow?: boolean; layer?: number }) => {
      const api = apiOf(context, options);
      const query = { layer: options.layer };
      await (options.follow ? followLogs(context, api, name, query) : copyLogs(context, api, name, query));
    });

  withLimit(withOutput(noun.command('events')))
    .description('show what happened in a session: tasks, results of hosts, warnings')
    .argument('<name>')
    .option('-f, --follow', 'go on until the session has ended')
    .action(async (name: string, options: OutputOptions & { follow?: boolean; limit?: number }) => {
      const api = apiOf(context, options);
      if (options.follow) return followEvents(context, api, name, options);
      const events = await allPages<EventAnswer>(api, `${path(name)}/events`, 'events', {}, options.limit);
      await writeList(context, eventView, events, options.output);
    });
}

async function copyLogs(context: CliContext, api: ApiClient, name: string, query: Query): Promise<void> {
  const response = await api.open(
    { method: 'GET', path: `${path(name)}/logs`, query },
    { headers: { accept: 'text/plain' } },
  );
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) writeData(context, decoder.decode(chunk, { stream: true }));
}

async function followLogs(context: CliContext, api: ApiClient, name: string, query: Query): Promise<void> {
  const options = { query, signal: context.signal, ...notes(context) };
  for await (const { data } of eventStream(api, `${path(name)}/logs`, options)) {
    writeData(context, (JSON.parse(data) as LogEntry).text);
  }
  if (context.signal.aborted) context.exit = EXIT.interrupted;
}

/** One line an event: of a table only the first has titles, and columns keep the width of its line. */
async function followEvents(context: CliContext, api: ApiClient, name: string, options: OutputOptions): Promise<void> {
  const format = options.output === 'table' || options.output === 'wide' ? 'tsv' : options.output;
  let first = true;
  for await (const { data } of eventStream(api, `${path(name)}/events`, {
    signal: context.signal,
    ...notes(context),
  })) {
    const lines = await renderList(eventView, [JSON.parse(data) as EventAnswer], format === 'json' ? 'jsonl' : format);
    writeData(context, format === 'tsv' && !first ? lines.slice(lines.indexOf('\n') + 1) : lines);
    first = false;
  }
  if (context.signal.aborted) context.exit = EXIT.interrupted;
}

const notes = (context: CliContext): { onLost: (failure: CliFailure) => void; onBack: () => void } => ({
  onLost: (failure) => say(context, `${failure.message}; trying again`),
  onBack: () => say(context, 'the API answers again'),
});
