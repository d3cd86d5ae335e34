import type { Command } from 'commander';
import type { Source } from '../../../domain/configurations/schema.ts';
import { type ApiClient, sourceSegment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { changedMembers } from '../../input/changed-members.ts';
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
import { cell, type View } from '../../output/columns.ts';
import { counted } from '../../output/names.ts';
import { renderOne, writeData, writeList } from '../../output/render.ts';
import { fieldList } from '../../output/table.ts';
import { previewRequests } from '../../preview.ts';
import { watching } from '../../watch.ts';

const path = (name: string): string => `/v3/sources/${sourceSegment(name)}`;

const sourceView: View<Source> = {
  noun: 'sources',
  name: (source) => source.name,
  columns: [
    { title: 'NAME', value: (source) => source.name },
    { title: 'URL', value: (source) => source.clone_url },
    { title: 'UPDATED', value: (source) => source.last_updated },
    { title: 'SECRET', value: (source) => source.credentials.secret_name, wide: true },
    { title: 'CA', value: (source) => cell(source.ca_cert?.configmap_name), wide: true },
    { title: 'DESCRIPTION', value: (source) => cell(source.description), wide: true },
  ],
};

const sourceDetails = (source: Source): string =>
  fieldList(sourceView.columns.map((column) => [column.title.toLowerCase(), column.value(source)]));

/** `muster source ...` */
export function sourceCommands(program: Command, context: CliContext): void {
  const noun = program.command('source').description('repositories with their credentials and CA');

  withWatch(withLimit(withOutput(noun.command('list'))))
    .description('list sources')
    .action(async (options: OutputOptions & WatchOptions & { limit?: number }) => {
      const api = apiOf(context, options);
      await watching(context, options, async () => {
        const records = await allPages<Source>(api, '/v3/sources', 'sources', {}, options.limit);
        await writeList(context, sourceView, records, options);
      });
    });

  withOutput(noun.command('get'))
    .description('show one source; its credentials are never shown')
    .argument('<name>')
    .action(async (name: string, options: OutputOptions) => {
      const record = await apiOf(context, options).json<Source>({ method: 'GET', path: path(name) });
      writeData(context, await renderOne(sourceView, record, options.output, sourceDetails));
    });

  withDryRun(withOutput(noun.command('apply')))
    .description('create sources from JSON or YAML, or change those that exist')
    .requiredOption('-f, --file <file>', 'file with one or many records, - for stdin')
    .action(async (options: OutputOptions & WriteOptions & { file: string }) => {
      const api = apiOf(context, options);
      const records = await readDocuments(context, options.file, 'sources');
      const stored: Source[] = [];
      let changed = 0;
      for (const [index, record] of records.entries()) {
        const name =
          record.name === undefined ? requiredText(record, 'clone_url', `source ${index}`) : String(record.name);
        const done = await applySource(context, api, name, record, options);
        if (done === undefined) continue;
        stored.push(done.source);
        if (done.changed) changed += 1;
      }
      if (!options.dryRun && changed === 0)
        say(context, `0 changed: ${counted(stored.length, 'source')} as in the file`);
      if (!options.dryRun) await writeList(context, sourceView, stored, options);
    });

  withDryRun(withServer(noun.command('delete')))
    .description('delete sources that nothing uses, with their credentials')
    .argument('<name...>')
    .action(async (names: string[], options: WriteOptions) => {
      const api = apiOf(context, options);
      for (const name of names) {
        await perform(context, api, { method: 'DELETE', path: path(name) }, options);
        if (!options.dryRun) say(context, `source ${name} deleted`);
      }
    });
}

/** Creates the source (POST), or changes what differs of it (PATCH) when it is there; answers what is stored. */
async function applySource(
  context: CliContext,
  api: ApiClient,
  name: string,
  record: Document,
  options: WriteOptions,
): Promise<{ source: Source; changed: boolean } | undefined> {
  const before = await storedSource(api, name);
  const { name: _name, last_updated: _updated, ...members } = record;
  const patch = before && changedMembers(before as Source & Document, members);
  const same = patch !== undefined && Object.keys(patch).length === 0;
  const request = patch
    ? { method: 'PATCH' as const, path: path(name), body: patch }
    : { method: 'POST' as const, path: '/v3/sources', body: record };
  if (options.dryRun) {
    if (!same) await previewRequests(context, api, [request], options);
    return undefined;
  }
  if (before !== undefined && same) {
    say(context, `source ${name} unchanged`);
    return { source: before, changed: false };
  }
  const source = await api.json<Source>(request);
  say(context, `source ${name} ${before ? 'changed (PATCH)' : 'created (POST)'}`);
  return { source, changed: true };
}

async function storedSource(api: ApiClient, name: string): Promise<Source | undefined> {
  try {
    return await api.json<Source>({ method: 'GET', path: path(name) });
  } catch (error) {
    if (error instanceof CliFailure && error.exit === EXIT.notFound) return undefined;
    throw error;
  }
}
