import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { type CliContext, say } from '../../context.ts';
import {
  type ContextStore,
  type Contexts,
  profileOf,
  requireContextName,
  type ServerContext,
} from '../../context-file.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';
import { type OutputOptions, withFormat, withTable } from '../../options.ts';
import { cell, type View } from '../../output/columns.ts';
import { FORMATS } from '../../output/formats.ts';
import { renderOne, writeData, writeList } from '../../output/render.ts';
import { fieldList } from '../../output/table.ts';
import { TIME_FORMS } from '../../output/times.ts';

/** A context as it is shown. */
interface Shown extends ServerContext {
  name: string;
  current: boolean;
}

interface SetOptions {
  url?: string;
  tokenFile?: string | false;
  caFile?: string | false;
  readOnly?: boolean;
  defaultOutput?: string;
  defaultTime?: string;
}

const view: View<Shown> = {
  noun: 'contexts',
  name: ({ name }) => name,
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'CURRENT', value: ({ current }) => (current ? 'yes' : '') },
    { title: 'URL', value: ({ url }) => url },
    { title: 'READ ONLY', value: ({ read_only }) => (read_only ? 'yes' : '') },
    { title: 'TOKEN FILE', value: ({ token_file }) => cell(token_file), wide: true },
    { title: 'CA FILE', value: ({ ca_file }) => cell(ca_file), wide: true },
  ],
};

const details = ({ name, current, url, token_file, ca_file, read_only, defaults }: Shown): string =>
  fieldList([
    ['name', name],
    ['current', current ? 'yes' : 'no'],
    ['url', url],
    ['token file', cell(token_file)],
    ['CA file', cell(ca_file)],
    ['read only', read_only ? 'yes' : 'no'],
    ['default output', cell(defaults?.output)],
    ['default time', cell(defaults?.time)],
  ]);

const shown = ({ current }: Contexts, name: string, one: ServerContext): Shown => ({
  ...{ name, current: name === current },
  ...one,
});

/** The file of the contexts. */
export function storeOf({ contexts }: CliContext): ContextStore {
  if (contexts !== undefined) return contexts;
  throw new CliFailure('no_contexts', 'there is no file of contexts here', EXIT.usage);
}

/** `muster context ...` */
export function contextCommands(program: Command, context: CliContext): void {
  const noun = program.command('context').description('servers by name, with what belongs to each');

  withTable(withFormat(noun.command('list')))
    .description('list contexts')
    .action(async (options: OutputOptions) => {
      const file = await storeOf(context).read();
      const all = Object.entries(file.contexts).map(([name, one]) => shown(file, name, one));
      await writeList(context, view, all, options);
    });

  withFormat(noun.command('get'))
    .description('show a context; without a name the current one')
    .argument('[name]')
    .action(async (name: string | undefined, { output }: OutputOptions) => {
      const file = await storeOf(context).read();
      const found = profileOf(file, name);
      if (found === undefined) throw usage('there is no current context', '`./muster context use NAME` chooses one');
      writeData(context, await renderOne(view, shown(file, found.name, found), output, details));
    });

  noun
    .command('use')
    .description('make a context the one that is used where none is named')
    .argument('<name>')
    .action(async (name: string) => {
      const store = storeOf(context);
      const file = await store.read();
      const { url } = profileOf(file, name) ?? {};
      await store.write({ ...file, current: name });
      say(context, `context ${name} is used now (${url})`);
    });

  noun
    .command('set')
    .description('make a context, or change what is given of it; the first one is used at once')
    .argument('<name>')
    .option('--url <url>', 'the API of the server; a new context needs it')
    .option('--own-token-file <file>', 'file with the token, in place of what sign-in keeps')
    .option('--no-own-token-file', 'keep what sign-in brings')
    .option('--ca-file <file>', 'CA of its certificate (PEM)')
    .option('--no-ca-file', 'no CA but those of this machine')
    .option('--read-only', 'send nothing that changes anything; dry runs are sent')
    .option('--no-read-only', 'allow writes')
    .addOption(new Option('--default-output <format>', 'form of the data where -o is absent').choices([...FORMATS]))
    .addOption(new Option('--default-time <form>', 'form of times where --time is absent').choices([...TIME_FORMS]))
    .action((name: string, options: SetOptions & { ownTokenFile?: string | false }) =>
      setContext(context, name, {
        ...options,
        ...(options.ownTokenFile === undefined ? {} : { tokenFile: options.ownTokenFile }),
      }),
    );

  noun
    .command('delete')
    .description('forget contexts, and the tokens that sign-in keeps for them')
    .argument('<name...>')
    .action(async (names: string[]) => {
      const store = storeOf(context);
      const file = await store.read();
      for (const name of names) profileOf(file, name);
      const left = Object.entries(file.contexts).filter(([name]) => !names.includes(name));
      const { current, ...rest } = file;
      const kept = current !== undefined && !names.includes(current) ? { current } : {};
      await store.write({ ...rest, ...kept, contexts: Object.fromEntries(left) });
      for (const name of names) {
        await rm(store.tokenFile(requireContextName(name)), { force: true });
        say(context, `context ${name} deleted`);
      }
    });
}

async function setContext(context: CliContext, name: string, options: SetOptions): Promise<void> {
  const store = storeOf(context);
  const file = await store.read();
  const before = Object.hasOwn(file.contexts, requireContextName(name)) ? file.contexts[name] : undefined;
  const url = options.url ?? before?.url;
  if (url === undefined)
    throw usage(`context ${name} is new and needs --url`, 'write it like https://muster.example.org');
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) throw usage(`${url} is no URL of an API`);
  const { username, password } = new URL(url);
  if (username || password) throw usage('--url must have no user and no password', '`./muster sign-in` keeps a token');
  const after: ServerContext = { ...before, url };
  setPath(after, 'token_file', options.tokenFile);
  setPath(after, 'ca_file', options.caFile);
  if (options.readOnly !== undefined) after.read_only = options.readOnly;
  const defaults = {
    ...before?.defaults,
    ...(options.defaultOutput === undefined ? {} : { output: options.defaultOutput }),
    ...(options.defaultTime === undefined ? {} : { time: options.defaultTime }),
  };
  if (Object.keys(defaults).length > 0) after.defaults = defaults;
  // A token is of its server: the context goes on without it.
  const isMoved = before !== undefined && before.url !== url;
  if (isMoved && after.token_file === store.tokenFile(name)) delete after.token_file;
  const current = file.current ?? name;
  await store.write({ ...file, current, contexts: { ...file.contexts, [name]: after } });
  if (isMoved) await rm(store.tokenFile(name), { force: true });
  say(context, `context ${name} ${before === undefined ? 'made' : 'changed'}${current === name ? '; it is used' : ''}`);
}

/** `false`: without it; undefined: as it was. */
function setPath(after: ServerContext, member: 'token_file' | 'ca_file', given: string | false | undefined): void {
  if (given === false) delete after[member];
  else if (given !== undefined) after[member] = resolve(given);
}
