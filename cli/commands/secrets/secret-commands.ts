import type { Command } from 'commander';
import type { SecretUse } from '../../../domain/secrets/secret-uses.ts';
import { segment } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { readSecretEntries, readSecretEntry } from '../../input/secret-value.ts';
import {
  apiOf,
  type OutputOptions,
  perform,
  type ServerOptions,
  type WatchOptions,
  type WriteOptions,
  withDryRun,
  withOutput,
  withReason,
  withServer,
  withTable,
  withWatch,
} from '../../options.ts';
import type { View } from '../../output/columns.ts';
import { writeList } from '../../output/render.ts';
import { previewRequests } from '../../preview.ts';
import { watching } from '../../watch.ts';

interface ListedSecret {
  name: string;
  keys: string[];
}

const secretView: View<ListedSecret> = {
  noun: 'secrets',
  name: ({ name }) => name,
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'KEYS', value: ({ keys }) => keys.join(', ') },
  ],
};

const useView: View<SecretUse> = {
  noun: 'uses',
  name: ({ name }) => name,
  columns: [
    { title: 'KIND', value: ({ kind }) => kind },
    { title: 'NAME', value: ({ name }) => name },
  ],
};

const pathOf = (name: string, key?: string): string =>
  `/api/v1/secrets/${segment(name)}${key === undefined ? '' : `/${segment(key)}`}`;

/** `muster secret ...`; a value comes from stdin or a file, so that no process list or shell history holds it. */
export function secretCommands(program: Command, context: CliContext): void {
  const noun = program.command('secret').description('values that are stored encrypted and never shown again');

  withDryRun(withServer(noun.command('set')))
    .description('store values: KEY reads stdin, KEY=@FILE a file, KEY=- stdin; what is no secret may be KEY=TEXT')
    .argument('<name>', 'name of the secret, for example vcs-user-credentials')
    .argument('<entry...>', 'key in it, for example vcs_password, or vcs_username=@user.txt vcs_password=-')
    .action(async (name: string, given: string[], options: WriteOptions) => {
      const api = apiOf(context, options);
      const entries = readSecretEntries(given);
      const requests: { method: 'PUT'; path: string; body: { value: string } }[] = [];
      // All values are at hand before the first is stored.
      for (const entry of entries) {
        const value = await readSecretEntry(context, name, entry);
        requests.push({ method: 'PUT', path: pathOf(name, entry.key), body: { value } });
      }
      if (options.dryRun) return previewRequests(context, api, requests, options);
      for (const request of requests) await api.json(request);
      say(context, `secret ${name} ${entries.map(({ key }) => key).join(', ')} stored`);
    });

  withWatch(withTable(withOutput(noun.command('list'))))
    .description('list secrets and their keys; values are never shown')
    .action(async (options: OutputOptions & WatchOptions) => {
      const api = apiOf(context, options);
      await watching(context, options, async () => {
        const { secrets } = await api.json<{ secrets: ListedSecret[] }>({ method: 'GET', path: '/api/v1/secrets' });
        await writeList(context, secretView, secrets, options);
      });
    });

  withDryRun(withServer(noun.command('delete')))
    .description('delete a secret, or one key of it')
    .argument('<name>')
    .argument('[key]')
    .option('--force', 'delete it although something uses it')
    .action(async (name: string, key: string | undefined, options: WriteOptions & { force?: boolean }) => {
      const query = options.force ? { force: 'true' } : {};
      const request = { method: 'DELETE' as const, path: pathOf(name, key), query };
      await perform(context, apiOf(context, options), request, options);
      if (!options.dryRun) say(context, `secret ${key === undefined ? name : `${name} ${key}`} deleted`);
    });

  withReason(withServer(noun.command('rotate-key')))
    .description('make a new key, and encrypt all secrets with it')
    .action(async (options: ServerOptions) => {
      const path = '/api/v1/secrets/rotate-key';
      const { values } = await apiOf(context, options).json<{ values: number }>({ method: 'POST', path });
      say(context, `all ${values} values are encrypted with a new key; backups of before need the key that they hold`);
    });

  withOutput(noun.command('usage'))
    .description('show which sources, options and parts of Muster use a secret')
    .argument('<name>')
    .action(async (name: string, options: OutputOptions) => {
      const path = `${pathOf(name)}/usage`;
      const { uses } = await apiOf(context, options).json<{ uses: SecretUse[] }>({ method: 'GET', path });
      await writeList(context, useView, uses, options);
    });
}
