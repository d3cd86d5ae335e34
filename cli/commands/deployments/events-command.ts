import type { Command } from 'commander';
import type { ContextEvent, EventsEnd } from '../../../domain/deployments/event-schema.ts';
import type { ApiClient, Query } from '../../client/api-client.ts';
import { eventStream } from '../../client/event-stream.ts';
import { type CliContext, say } from '../../context.ts';
import { EXIT } from '../../failure.ts';
import { integer } from '../../input/pairs.ts';
import { apiOf, type OutputOptions, withLimit, withOutput } from '../../options.ts';
import type { View } from '../../output/columns.ts';
import { isValueFormat } from '../../output/formats.ts';
import { writeData, writeList } from '../../output/render.ts';
import { oneLine } from '../../terminal/neutralise.ts';
import { DEPLOYMENT_ARGUMENT, deploymentPath } from './deployment-path.ts';

/** Events asked for in one request. */
const PAGE = 1_000;

interface EventsOptions extends OutputOptions {
  follow?: boolean;
  limit?: number;
  tail?: number;
  instance?: string;
}

const view: View<ContextEvent> = {
  noun: 'events',
  name: ({ seq }) => String(seq),
  columns: [
    { title: 'TIME', value: ({ time }) => time },
    { title: 'TYPE', value: ({ type }) => type },
    { title: 'WHERE', value: whereOf },
    { title: 'FROM', value: (event) => ('from' in event ? event.from : '') },
    { title: 'TO', value: toOf },
    { title: 'REASON', value: (event) => ('reason' in event ? (event.reason ?? '') : '') },
    { title: 'MESSAGE', value: (event) => ('message' in event ? (event.message ?? '') : '') },
  ],
};

/** `muster deployment events` */
export function eventsCommand(noun: Command, context: CliContext): void {
  withLimit(withOutput(noun.command('events')))
    .description('list what happened in a deployment: each change of a status, a state and a connectivity')
    .argument('<deployment>', DEPLOYMENT_ARGUMENT)
    .option('-f, --follow', 'go on until it is terminated')
    .option('--tail <count>', 'the last so many, and with --follow what comes then', integer(1))
    .option('--instance <id>', 'of this AppContext; default: the last one')
    .action(async (name: string, options: EventsOptions) => {
      const api = apiOf(context, options);
      const path = `${deploymentPath(name)}/events`;
      if (options.follow) return follow(context, api, path, options);
      await writeList(context, view, await allEvents(api, path, options), options);
    });
}

async function allEvents(api: ApiClient, path: string, options: EventsOptions): Promise<ContextEvent[]> {
  const { instance, tail, limit: most = Number.POSITIVE_INFINITY } = options;
  const events: ContextEvent[] = [];
  let next: Query | null = { instance, ...(tail === undefined ? {} : { tail }) };
  while (next !== null && events.length < most) {
    const query: Query = { ...next, limit: Math.min(PAGE, most - events.length) };
    type Page = { events: ContextEvent[]; next: Query | null };
    const page: Page = await api.json<Page>({ method: 'GET', path, query });
    events.push(...page.events.slice(0, most - events.length));
    next = page.next;
  }
  return events;
}

async function follow(
  context: CliContext,
  api: ApiClient,
  path: string,
  { output, tail, instance }: EventsOptions,
): Promise<void> {
  const onEnd = (data: string) => {
    const { status } = JSON.parse(data) as EventsEnd;
    say(context, status === null ? 'the AppContext was removed' : `the AppContext is ${status}`);
  };
  const query: Query = { instance, tail };
  for await (const { data } of eventStream(api, path, { query, signal: context.signal, onEnd })) {
    writeData(context, isValueFormat(output) ? `${data}\n` : `${lineOf(JSON.parse(data) as ContextEvent)}\n`);
  }
  if (context.signal.aborted) context.exit = EXIT.interrupted;
}

function whereOf(event: ContextEvent): string {
  if (event.type === 'resource') return `${event.app} ${event.cluster} ${event.resource}`;
  return event.type === 'connectivity' ? event.cluster : '';
}

function toOf(event: ContextEvent): string {
  if (event.type === 'state') return event.state;
  return event.type === 'connectivity' ? event.connectivity : event.status;
}

function lineOf(event: ContextEvent): string {
  const texts = view.columns.map(({ value }) => value(event)).filter((text) => text !== '');
  return oneLine(texts.join('  '));
}
