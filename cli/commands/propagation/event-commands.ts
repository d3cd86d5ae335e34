import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { EventView } from '../../../domain/propagation/schema.ts';
import { type ApiRequest, segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { usage } from '../../failure.ts';
import {
  apiOf,
  type OutputOptions,
  perform,
  type WriteOptions,
  withDryRun,
  withLimit,
  withOutput,
  withServer,
} from '../../options.ts';
import type { View } from '../../output/columns.ts';
import { counted } from '../../output/names.ts';
import { writeData, writeList } from '../../output/render.ts';

const PATH = '/api/v1/propagation/events';

interface Filter {
  parent?: string;
  child?: string;
  resource?: string;
  source?: string;
}

const parentOf = ({ parent, parent_action }: EventView): string => `${parent}.${parent_action}`;
const childOf = ({ child, child_action }: EventView): string => `${child}.${child_action}`;

const view: View<EventView> = {
  noun: 'events',
  name: ({ id }) => id,
  columns: [
    { title: 'TYPE', value: ({ type }) => type },
    { title: 'PARENT', value: parentOf },
    { title: 'ON', value: ({ on }) => on },
    { title: 'CHILD', value: childOf },
    { title: 'SOURCE', value: ({ source }) => source },
    { title: 'ID', value: ({ id }) => id },
  ],
};

/** `depends_on: a.run -> success -> b.run` */
const lineOf = (event: EventView): string => `${event.type}: ${parentOf(event)} -> ${event.on} -> ${childOf(event)}\n`;

async function writeEvents(context: CliContext, events: EventView[], output: OutputOptions['output']): Promise<void> {
  if (output !== 'table' || events.length === 0) return writeList(context, view, events, output);
  writeData(context, events.map(lineOf).join(''));
}

/** `muster event ...` */
export function eventCommands(program: Command, context: CliContext): void {
  const noun = program.command('event').description('what the end of one action means for another');

  withDryRun(withOutput(noun.command('add')))
    .description('add an event, or all events of a file; an event that is there stays')
    .argument('[text...]', 'such as: on db.run changed web.1.reload')
    .option('-f, --file <file>', 'lines of events; - is stdin')
    .action(async (words: string[], options: OutputOptions & WriteOptions & { file?: string }) => {
      const { file, output } = options;
      if ((words.length === 0) === (file === undefined)) throw usage('give either the text of an event or --file FILE');
      const body = file === undefined ? words.join(' ') : await textOf(context, file);
      const api = apiOf(context, options);
      if (file === undefined && !body.includes('\n')) {
        const added = await perform<EventView>(context, api, { method: 'POST', path: PATH, body }, options);
        return added && writeEvents(context, [added], output);
      }
      const request: ApiRequest = { method: 'POST', path: `${PATH}/bulk`, body };
      const added = await perform<{ events: EventView[] }>(context, api, request, options);
      return added && writeEvents(context, added.events, output);
    });

  withLimit(withOutput(noun.command('list')))
    .description('list events; -o wide shows their ids')
    .argument('[resource]', 'only events with this resource at either end')
    .option('--parent <resource>', 'only events of this emitter')
    .option('--child <resource>', 'only events of this subscriber')
    .option('--source <source>', 'user, or default: with the id of a connection')
    .action(async (resource: string | undefined, options: OutputOptions & Filter & { limit?: number }) => {
      const { parent, child, source, limit, output } = options;
      const query = { resource, parent, child, source };
      const found = await allPages<EventView>(apiOf(context, options), PATH, 'events', query, limit);
      await writeEvents(context, found, output);
    });

  withDryRun(withServer(noun.command('remove')))
    .description('remove events by their ids, or all that meet every condition')
    .argument('[id...]')
    .option('--resource <name>', 'with this resource at either end')
    .option('--parent <resource>', 'of this emitter')
    .option('--child <resource>', 'of this subscriber')
    .option('--source <source>', 'user, or default: with the id of a connection')
    .action(async (ids: string[], options: WriteOptions & Filter) => {
      const { resource, parent, child, source } = options;
      const filter = { resource, parent, child, source };
      const isFiltered = Object.values(filter).some((value) => value !== undefined);
      if ((ids.length === 0) !== isFiltered) throw usage('give either ids of events or conditions');
      const api = apiOf(context, options);
      for (const id of ids) {
        await perform(context, api, { method: 'DELETE', path: `${PATH}/${segment(id)}` }, options);
        if (!options.dryRun) say(context, `event ${id} removed`);
      }
      if (!isFiltered) return;
      const request: ApiRequest = { method: 'POST', path: `${PATH}/delete`, body: filter };
      const removed = await perform<{ deleted: number }>(context, api, request, options);
      if (removed !== undefined) say(context, `${counted(removed.deleted, 'event')} removed`);
    });
}

async function textOf(context: CliContext, file: string): Promise<string> {
  if (file === '-') return text(context.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw usage(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  }
}
