import type { Command } from 'commander';
import type { RepositoryView } from '../../../domain/propagation/schema.ts';
import { type ApiClient, type ApiRequest, segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { usage } from '../../failure.ts';
import { seconds } from '../../input/pairs.ts';
import {
  apiOf,
  type OutputOptions,
  perform,
  type WaitOptions,
  type WriteOptions,
  withDryRun,
  withLimit,
  withOutput,
  withServer,
} from '../../options.ts';
import { renderOne, writeData, writeList } from '../../output/render.ts';
import { followSync } from './follow-sync.ts';
import { repositoryDetails, repositoryView } from './repository-view.ts';
import { ensureRepository, REPOSITORIES, uploadDefinitions } from './upload-definitions.ts';

interface AddOptions extends WriteOptions, WaitOptions {
  git?: string;
  ref?: string;
  path?: string;
  source?: string;
  overwrite?: boolean;
}

const SINGLE = /^([^/:]+)\/([^/:]+):==(.+)$/;

/** `muster repository ...` */
export function repositoryCommands(program: Command, context: CliContext): void {
  const noun = program.command('repository').description('repositories of definitions, of which resources are made');

  withSyncWait(withDryRun(withServer(noun.command('add'))))
    .description('upload every definition below a folder; the repository is made when it is not there')
    .argument('<name>')
    .argument('[folder]', 'a folder with a meta.yaml, or with such folders below it')
    .option('--git <url>', 'read the definitions from a git repository instead')
    .option('--ref <ref>', 'with --git: branch, tag or commit')
    .option('--path <path>', 'with --git: folder in the repository')
    .option('--source <name>', 'with --git: source with credentials and CA')
    .option('--overwrite', 'take the place of other content of the same version while no resource uses it')
    .action(async (name: string, folder: string | undefined, options: AddOptions) => {
      const { git, ref, path, source } = options;
      const api = apiOf(context, options);
      if ((git === undefined) === (folder === undefined)) throw usage('name either a folder or --git URL');
      if (folder === undefined) {
        if (options.overwrite) throw usage('--overwrite goes with a folder: what is read from git keeps its versions');
        const body = { name, url: git, ref, path, source };
        const made = await askForSync(context, api, { method: 'POST', path: REPOSITORIES, body }, options);
        if (made !== undefined) say(context, `repository ${name} created; it is being read`);
        await waitForSync(context, api, made, options);
        return;
      }
      if ([ref, path, source, options.wait].some((option) => option !== undefined)) {
        throw usage('--ref, --path, --source and --wait go with --git');
      }
      // What reads folders is loaded when it is wanted, to keep other commands fast.
      const { readDefinitionFolders } = await import('./definition-folder.ts');
      const definitions = await readDefinitionFolders(folder);
      await ensureRepository(context, api, name, options);
      await uploadDefinitions(context, api, name, definitions, options);
    });

  withLimit(withOutput(noun.command('list')))
    .description('list repositories')
    .action(async (options: OutputOptions & { limit?: number }) => {
      const api = apiOf(context, options);
      const found = await allPages<RepositoryView>(api, REPOSITORIES, 'repositories', {}, options.limit);
      await writeList(context, repositoryView, found, options);
    });

  withOutput(noun.command('get'))
    .description('show the definitions of a repository with their versions, and how its last sync ended')
    .argument('<name>')
    .action(async (name: string, options: OutputOptions) => {
      const request = { method: 'GET', path: `${REPOSITORIES}/${segment(name)}` } as const;
      const found = await apiOf(context, options).json<RepositoryView>(request);
      writeData(context, await renderOne(repositoryView, found, options.output, repositoryDetails));
    });

  withSyncWait(withDryRun(withServer(noun.command('sync'))))
    .description('read the definitions of a git repository again')
    .argument('<name>')
    .action(async (name: string, options: WriteOptions & WaitOptions) => {
      const api = apiOf(context, options);
      const request = { method: 'POST', path: `${REPOSITORIES}/${segment(name)}/sync` } as const;
      const asked = await askForSync(context, api, request, options);
      if (asked !== undefined) say(context, `repository ${name} is being read`);
      await waitForSync(context, api, asked, options);
    });

  withDryRun(withServer(noun.command('remove')))
    .description('remove repositories with all of their definitions, or single definitions')
    .argument('<name...>', 'NAME, or NAME/DEFINITION:==VERSION')
    .action(async (names: string[], options: WriteOptions) => {
      const api = apiOf(context, options);
      for (const name of names) {
        await perform(context, api, { method: 'DELETE', path: pathOf(name) }, options);
        if (!options.dryRun) say(context, `${name.includes('/') ? 'definition' : 'repository'} ${name} removed`);
      }
    });
}

const withSyncWait = (command: Command): Command =>
  command
    .option('--wait', 'wait until the definitions are read from git; that is the exit status')
    .option('--timeout <seconds>', 'stop waiting after so long (exit status 6); the sync goes on', seconds);

/** Sends a request that wants a sync; undefined where it was only shown. */
function askForSync(
  context: CliContext,
  api: ApiClient,
  request: ApiRequest,
  options: WriteOptions & WaitOptions,
): Promise<RepositoryView | undefined> {
  if (!options.wait && options.timeout !== undefined) throw usage('--timeout needs --wait');
  return perform<RepositoryView>(context, api, request, options);
}

async function waitForSync(
  context: CliContext,
  api: ApiClient,
  asked: RepositoryView | undefined,
  { wait = false, timeout }: WaitOptions,
): Promise<void> {
  if (asked === undefined || !wait) return;
  await followSync(context, api, `${REPOSITORIES}/${segment(asked.name)}`, { timeout });
}

/** A single definition is named with `==`, so that no other version goes by mistake. */
function pathOf(text: string): string {
  if (!text.includes('/')) return `${REPOSITORIES}/${segment(text)}`;
  const [, repository, name, version] = SINGLE.exec(text) ?? [];
  if (repository === undefined || name === undefined || version === undefined) {
    throw usage(`${text} does not name one definition: write it as REPOSITORY/DEFINITION:==VERSION`);
  }
  return `${REPOSITORIES}/${segment(repository)}/definitions/${segment(name)}/${segment(version)}`;
}
