import type { Command } from 'commander';
import { type ApiClient, segment } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';
import { apiOf, type ServerOptions, withServer } from '../../options.ts';
import { writeData } from '../../output/render.ts';

/** Where the record of a kind is read, and its page below the UI's address. */
const PAGES: Readonly<Record<string, { path: string; page: string }>> = {
  component: { path: '/v3/components', page: 'components' },
  session: { path: '/api/v1/sessions', page: 'sessions' },
  configuration: { path: '/v3/configurations', page: 'configurations' },
};

/** `muster open [component|session|configuration NAME]` */
export function openCommand(program: Command, context: CliContext): void {
  withServer(program.command('open'))
    .description('open the web UI, or the page of a record; writes its address')
    .argument('[kind]', `what to open: ${Object.keys(PAGES).join(', ')}`)
    .argument('[name]', 'id or name of the record')
    .action(async (kind: string | undefined, name: string | undefined, options: ServerOptions) => {
      if (kind !== undefined && !Object.hasOwn(PAGES, kind))
        throw usage(`there are no pages of '${kind}'`, `there are those of ${Object.keys(PAGES).join(', ')}`);
      if (kind !== undefined && name === undefined) throw usage(`say which ${kind}`, `./muster open ${kind} NAME`);
      await openPage(context, options, kind, name);
    });
}

/** Opens the page of a record, or the first page. Throws what the API says of a record that is not there. */
export async function openPage(
  context: CliContext,
  options: ServerOptions,
  kind?: string,
  name?: string,
): Promise<void> {
  const api = apiOf(context, options);
  const { links } = await api.json<{ links: { ui?: string } }>({ method: 'GET', path: '/api/v1/status' });
  if (links.ui === undefined) throw new CliFailure('no_ui', 'this server has no web UI', EXIT.usage);
  const url = `${links.ui}${await pageOf(api, kind, name)}`;
  writeData(context, `${url}\n`);
  if (context.out.terminal && !(await context.browse?.(url))) say(context, 'no browser was found; open the address');
}

/** The record has to be there. Names of sessions are used again, so that the id says which one is meant. */
async function pageOf(api: ApiClient, kind = '', name = ''): Promise<string> {
  const found = PAGES[kind];
  if (found === undefined) return '';
  const { id } = await api.json<{ id?: string }>({ method: 'GET', path: `${found.path}/${segment(name)}` });
  const which = kind === 'session' && id !== undefined ? `?id=${id}` : '';
  return `${found.page}/${segment(name)}${which}`;
}
