import { type Command, Option } from 'commander';
import { EVENT_POLICIES } from '../../../domain/propagation/default-events.ts';
import type { ConnectionView, EventView } from '../../../domain/propagation/schema.ts';
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
import { isValueFormat } from '../../output/formats.ts';
import { counted } from '../../output/names.ts';
import { renderValue, writeData, writeList } from '../../output/render.ts';
import { readMapping } from './given-words.ts';

const PATH = '/api/v1/propagation/connections';

const fromOf = ({ emitter, emitter_input }: ConnectionView): string => `${emitter}::${emitter_input}`;
const toOf = ({ receiver, receiver_input, key }: ConnectionView): string =>
  `${receiver}::${receiver_input}${key === null ? '' : `:${key}`}`;

const view: View<ConnectionView> = {
  noun: 'connections',
  name: ({ id }) => id,
  columns: [
    { title: 'FROM', value: fromOf },
    { title: 'TO', value: toOf },
    { title: 'ID', value: ({ id }) => id, wide: true },
  ],
};

/** A line for each input of the emitter: `emitter::input -> [receiver::input, ...]`. */
function connectionLines(connections: readonly ConnectionView[]): string {
  const lines = [...Map.groupBy(connections, fromOf)].map(
    ([from, rows]) => `${from} -> [${rows.map(toOf).join(', ')}]\n`,
  );
  return lines.join('');
}

/** `muster connection ...` */
export function connectionCommands(program: Command, context: CliContext): void {
  const noun = program.command('connection').description('values that one resource hands on to another');

  withDryRun(withOutput(noun.command('add')))
    .description('connect inputs of a resource to inputs of another, with the events that go with it')
    .argument('<emitter>')
    .argument('<receiver>')
    .argument('[mapping...]', 'input->address (input or input:key), the name of an input, or one JSON text')
    .addOption(
      new Option(
        '--events <policy>',
        'which events it makes (default: those of the installation, full unless it was changed)',
      ).choices([...EVENT_POLICIES]),
    )
    .action(
      async (
        emitter: string,
        receiver: string,
        words: string[],
        options: OutputOptions & WriteOptions & { events?: string },
      ) => {
        const body = { emitter, receiver, mapping: readMapping(words), events: options.events };
        const request: ApiRequest = { method: 'POST', path: PATH, body };
        type Made = { connections: ConnectionView[]; events: EventView[] };
        const made = await perform<Made>(context, apiOf(context, options), request, options);
        if (made === undefined) return;
        const { output } = options;
        if (isValueFormat(output)) return writeData(context, await renderValue(made, output));
        writeData(context, connectionLines(made.connections));
        say(context, `${counted(made.events.length, 'event')} with it`);
      },
    );

  withLimit(withOutput(noun.command('list')))
    .description('list connections')
    .option('--emitter <name>', 'only out of this resource')
    .option('--receiver <name>', 'only into this resource')
    .action(async (options: OutputOptions & { limit?: number; emitter?: string; receiver?: string }) => {
      const { limit, emitter, receiver, output } = options;
      const query = { emitter, receiver };
      const found = await allPages<ConnectionView>(apiOf(context, options), PATH, 'connections', query, limit);
      await writeList(context, view, found, output);
    });

  withDryRun(withServer(noun.command('remove')))
    .description('remove the connections from one resource to another, or one connection by its id')
    .argument('<emitter>', 'or the id of a connection, alone')
    .argument('[receiver]')
    .argument('[input...]', 'only these inputs of the emitter: input, or input|tag|key')
    .option('--keep-events', 'the events that the connections made stay')
    .action(
      async (
        emitter: string,
        receiver: string | undefined,
        inputs: string[],
        options: WriteOptions & { keepEvents?: boolean },
      ) => {
        const api = apiOf(context, options);
        const keep_events = options.keepEvents ? true : undefined;
        if (receiver === undefined) {
          if (!/^[0-9a-f-]{36}$/i.test(emitter)) throw usage('name emitter and receiver, or the id of a connection');
          const query = { keep_events };
          await perform(context, api, { method: 'DELETE', path: `${PATH}/${segment(emitter)}`, query }, options);
          if (!options.dryRun) say(context, `connection ${emitter} removed`);
          return;
        }
        const body = { emitter, receiver, ...(inputs.length === 0 ? {} : { inputs }), keep_events };
        const request: ApiRequest = { method: 'POST', path: `${PATH}/delete`, body };
        const removed = await perform<{ connections: ConnectionView[] }>(context, api, request, options);
        if (removed !== undefined) say(context, `${counted(removed.connections.length, 'connection')} removed`);
      },
    );
}
