import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { isSameServer } from '../../../deploy/stack/own-stack.ts';
import type { Me, SignInMethods } from '../../../domain/access/schema.ts';
import { ApiClient } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { type Contexts, writePrivate } from '../../context-file.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';
import { readSecretValue } from '../../input/secret-value.ts';
import { apiOf, type OutputOptions, type ServerOptions, withOutput, withServer } from '../../options.ts';
import { isValueFormat } from '../../output/formats.ts';
import { renderValue, writeData } from '../../output/render.ts';
import { fieldList } from '../../output/table.ts';
import { oneWord, requireSafeWay } from '../../token.ts';
import { storeOf } from './context-commands.ts';

/** `muster sign-in` */
export function signInCommand(program: Command, context: CliContext): void {
  withServer(program.command('sign-in'))
    .description('check a token and keep it for its server; it is asked for and not shown, or comes from stdin')
    .action((options: ServerOptions) => signIn(context, options));
}

/** `muster sign-out` */
export function signOutCommand(program: Command, context: CliContext): void {
  program
    .command('sign-out')
    .description('forget the token of the context in use; the token itself stays valid until it is revoked')
    .action(async () => {
      const { profile } = context;
      if (profile === undefined) throw usage('no context is in use', '`--context NAME` names one');
      const { name, token_file: file } = profile;
      if (file !== undefined && file !== storeOf(context).tokenFile(name)) {
        const fix = `\`./muster context set ${name} --no-own-token-file\` uses it no more`;
        throw new CliFailure('own_token_file', `${file} was named by a person and is left alone`, EXIT.conflict, fix);
      }
      if (file === undefined) return say(context, `context ${name} has no token`);
      const { token_file: _file, name: _name, ...rest } = profile;
      const contexts = await storeOf(context).read();
      await rm(file, { force: true });
      await storeOf(context).write({ ...contexts, contexts: { ...contexts.contexts, [name]: rest } });
      say(context, `signed out of ${profile.url}; \`./muster token revoke\` as admin makes the token worthless`);
    });
}

/** `muster whoami` */
export function whoamiCommand(program: Command, context: CliContext): void {
  withOutput(program.command('whoami'))
    .description('who you are to the server, what you may do, and which server it is')
    .action(async (options: OutputOptions) => {
      const url = options.url ?? context.defaultUrl;
      const me = await apiOf(context, options).json<Me>({ method: 'GET', path: '/api/v1/me' });
      const name = inUse(context, url);
      if (isValueFormat(options.output)) {
        return writeData(context, await renderValue({ ...me, url, context: name ?? null }, options.output));
      }
      if (options.output === 'name') return writeData(context, `${me.name ?? ''}\n`);
      const fields: [string, string][] = [
        ['name', me.name ?? 'nobody is known: access is not checked here'],
        ['role', me.role],
        ['known by', me.kind === 'none' ? '' : me.kind],
        ['until', me.expires_at ?? ''],
        ['url', url],
        ['context', name ?? ''],
        ['lanes', me.lanes.join(', ')],
      ];
      writeData(context, fieldList(fields));
    });
}

/** The context in use where it is of this server. */
const inUse = ({ profile }: CliContext, url: string): string | undefined =>
  profile !== undefined && isSameServer(profile.url, url) ? profile.name : undefined;

/**
 * Keeps a token that the server takes: first in its file, then in the context. Without a context of the server makes one. Throws what the server
 * refuses the token with; nothing is kept then.
 */
async function signIn(context: CliContext, options: ServerOptions): Promise<void> {
  const url = options.url ?? context.defaultUrl;
  if (!URL.canParse(url)) throw usage(`${url} is not a URL`, 'write it like https://muster.example.org');
  const store = storeOf(context);
  const contexts = await store.read();
  const used = inUse(context, url);
  const name = used ?? newName(contexts, url);
  const own = used === undefined ? undefined : contexts.contexts[used]?.token_file;
  const file = own ?? store.tokenFile(name);
  if ((await modeOf(context, url)) === 'none') {
    return say(context, `a sign-in is not needed at ${url}: access is not checked there (MUSTER_AUTH=none)`);
  }
  requireSafeWay(url, 'a token');
  const token = oneWord('stdin', await readSecretValue(context, 'token', './muster sign-in < FILE'));
  const me = await clientOf(context, url, token).json<Me>({ method: 'GET', path: '/api/v1/me' });
  await writePrivate(file, `${token}\n`);
  const known = contexts.contexts[name];
  const current = contexts.current ?? name;
  await store.write({
    ...contexts,
    current,
    contexts: { ...contexts.contexts, [name]: { ...known, url: known?.url ?? url, token_file: file } },
  });
  say(context, `signed in at ${url} as ${me.name ?? 'nobody'} with role ${me.role}; context ${name} keeps the token`);
  if (current !== name && used === undefined) {
    say(context, `context ${current} is still used: \`./muster context use ${name}\`, or \`--context ${name}\``);
  }
}

/** How the server checks access; undefined for a server of a release before sign-ins. */
async function modeOf(context: CliContext, url: string): Promise<SignInMethods['mode'] | undefined> {
  try {
    return (await clientOf(context, url).json<SignInMethods>({ method: 'GET', path: '/api/v1/sign-in' })).mode;
  } catch (error) {
    if (error instanceof CliFailure && (error.code === 'not_found' || error.exit === EXIT.notAllowed)) return undefined;
    throw error;
  }
}

const clientOf = (context: CliContext, url: string, token?: string): ApiClient =>
  new ApiClient(url, context.signal, async () => token);

/** A name for the context of a server: the one that it has, else its host. */
function newName({ contexts }: Contexts, url: string): string {
  const known = Object.entries(contexts).find(([, one]) => isSameServer(one.url, url));
  if (known !== undefined) return known[0];
  const { hostname, port } = new URL(url);
  const stem = `${hostname}${port === '' ? '' : `-${port}`}`.replace(/[^A-Za-z0-9.-]+/g, '').slice(0, 60) || 'server';
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? stem : `${stem}-${count}`;
    if (!Object.hasOwn(contexts, name)) return name;
  }
}
