import { type Command, Option } from 'commander';
import { RESOURCE_STATES } from '../../../domain/propagation/item-state.ts';
import type { RemovalView } from '../../../domain/propagation/request-schema.ts';
import type { ResourceDetail, ResourceView, StagedItemView } from '../../../domain/propagation/schema.ts';
import { type ApiClient, segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';
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
import { isValueFormat } from '../../output/formats.ts';
import { renderOne, renderValue, writeData, writeList } from '../../output/render.ts';
import { writeItems } from './change-commands.ts';
import { readInputs } from './given-words.ts';
import { resourceDetails, resourceView } from './resource-view.ts';
import { ensureRepository, uploadDefinitions } from './upload-definitions.ts';

const PATH = '/api/v1/propagation/resources';
/** Where definitions of this machine go that a resource is made of. */
const OWN_REPOSITORY = 'resources';

const pathOf = (name: string): string => `${PATH}/${segment(name)}`;

/** `muster resource ...` */
export function resourceCommands(program: Command, context: CliContext): void {
  const noun = program.command('resource').description('things on machines, made of definitions');

  withDryRun(withOutput(noun.command('create')))
    .description('make a resource and stage its first run')
    .argument('<name>')
    .argument('<spec>', '[repository/]name[:[op]version] of its definition, or a folder that begins with / or ./')
    .argument('[input...]', 'name=value, or all inputs as one JSON object; a value that is JSON counts as JSON')
    .option('--tag <tag...>', 'name or name=value; may be repeated')
    .action(
      async (
        name: string,
        spec: string,
        words: string[],
        options: OutputOptions & WriteOptions & { tag?: string[] },
      ) => {
        const api = apiOf(context, options);
        const inputs = readInputs(words);
        const from = await uploadedSpec(context, api, spec, options);
        const body = { name, from, inputs, ...(options.tag === undefined ? {} : { tags: options.tag }) };
        const made = await perform<ResourceDetail>(context, api, { method: 'POST', path: PATH, body }, options);
        if (made === undefined) return;
        if (isValueFormat(options.output)) writeData(context, await renderValue(made, options.output));
        say(context, `resource ${name} created`);
      },
    );

  withLimit(withOutput(noun.command('list')))
    .description('list resources')
    .option('--tags <expression>', 'only those whose tags match, as service=web&(zone=a|zone=b)')
    .addOption(new Option('--state <state>', 'only in this state').choices([...RESOURCE_STATES]))
    .option('--prefix <text>', 'only names that begin so')
    .action(async (options: OutputOptions & { limit?: number; tags?: string; state?: string; prefix?: string }) => {
      const { limit, tags, state, prefix, output } = options;
      const query = { tags, state, prefix };
      const found = await allPages<ResourceView>(apiOf(context, options), PATH, 'resources', query, limit);
      await writeList(context, resourceView, found, output);
    });

  withOutput(noun.command('get'))
    .description('show a resource: own and resolved inputs, and where values come from')
    .argument('<name>')
    .action(async (name: string, options: OutputOptions) => {
      const found = await apiOf(context, options).json<ResourceDetail>({ method: 'GET', path: pathOf(name) });
      writeData(context, await renderOne(resourceView, found, options.output, () => resourceDetails(found)));
    });

  withDryRun(withServer(noun.command('update')))
    .description('set inputs and stage the resource')
    .argument('<name>')
    .argument('<input...>', 'name=value, or all inputs as one JSON object; a value that is JSON counts as JSON')
    .action(async (name: string, words: string[], options: WriteOptions) => {
      const request = { method: 'PATCH', path: pathOf(name), body: { inputs: readInputs(words) } } as const;
      await perform(context, apiOf(context, options), request, options);
      if (!options.dryRun) say(context, `resource ${name} changed`);
    });

  withDryRun(withServer(noun.command('tag')))
    .description('add tags to a resource, or take them away')
    .argument('<name>')
    .argument('<tag...>', 'name or name=value')
    .option('--delete', 'take them away')
    .action(async (name: string, tags: string[], options: WriteOptions & { delete?: boolean }) => {
      const method = options.delete ? 'DELETE' : 'PUT';
      const request = { method, path: `${pathOf(name)}/tags`, body: { tags } } as const;
      const found = await perform<{ tags: string[] }>(context, apiOf(context, options), request, options);
      if (found !== undefined) writeData(context, found.tags.map((tag) => `${tag}\n`).join(''));
    });

  withDryRun(withOutput(noun.command('stage')))
    .description('stage an action of a resource, also where nothing differs')
    .argument('<name>')
    .argument('[action]', 'default: update, or run for a resource that was never committed')
    .option('-d, --details', 'with the differences')
    .action(
      async (
        name: string,
        action: string | undefined,
        options: OutputOptions & WriteOptions & { details?: boolean },
      ) => {
        const body = action === undefined ? {} : { action };
        const request = { method: 'POST', path: `${pathOf(name)}/stage`, body } as const;
        const staged = await perform<{ changes: StagedItemView[] }>(context, apiOf(context, options), request, options);
        if (staged !== undefined) await writeItems(context, staged.changes, options);
      },
    );

  withDryRun(withServer(noun.command('remove')))
    .description('stage the removal of resources; a resource that was never committed goes at once')
    .argument('<name...>')
    .option('-f, --force', 'the record goes at once, and nothing is done on the machine')
    .option('-r, --recursive', 'with all that gets values of it: not supported yet')
    .action(async (names: string[], options: WriteOptions & { force?: boolean; recursive?: boolean }) => {
      const api = apiOf(context, options);
      const { force, recursive } = options;
      const query = { ...(force ? { force: true } : {}), ...(recursive ? { recursive: true } : {}) };
      for (const name of names) {
        const removed = await perform<RemovalView>(
          context,
          api,
          { method: 'DELETE', path: pathOf(name), query },
          options,
        );
        if (removed === undefined) continue;
        const text = removed.removal === 'staged' ? 'will be removed after committing' : 'removed from database';
        writeData(context, `${name} ${text}\n`);
      }
    });
}

/** A folder of this machine is uploaded first: the API reads no files. Returns the spec of what a resource is made of. */
async function uploadedSpec(context: CliContext, api: ApiClient, spec: string, options: WriteOptions): Promise<string> {
  if (spec.endsWith('.yaml')) {
    throw new CliFailure('not_supported', `${spec} is a composer file, which is not supported yet`, EXIT.usage);
  }
  if (!/^\.{0,2}\//.test(spec)) return spec;
  const { readDefinitionFolders } = await import('./definition-folder.ts');
  const [definition, ...others] = await readDefinitionFolders(spec);
  if (definition === undefined || others.length > 0)
    throw usage(`${spec} holds ${others.length + 1} definitions: name one`);
  await ensureRepository(context, api, OWN_REPOSITORY, options);
  await uploadDefinitions(context, api, OWN_REPOSITORY, [definition], options);
  return `${OWN_REPOSITORY}/${definition.name}:==${definition.version}`;
}
