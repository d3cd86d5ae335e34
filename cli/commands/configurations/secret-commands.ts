import type { Command } from 'commander';
import { segment } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { readSecretValue } from '../../input/secret-value.ts';
import { apiOf, showRequests, type WriteOptions, withDryRun, withServer } from '../../options.ts';

/** `muster secret ...`; a value comes from stdin only, so that no process list or shell history holds it. */
export function secretCommands(program: Command, context: CliContext): void {
  const noun = program.command('secret').description('values that are stored encrypted and never shown again');

  withDryRun(withServer(noun.command('set')))
    .description('store a value read from stdin')
    .argument('<name>', 'name of the secret, for example vcs-user-credentials')
    .argument('<key>', 'key in it, for example vcs_password')
    .action(async (name: string, key: string, options: WriteOptions) => {
      const api = apiOf(context, options);
      const value = await readSecretValue(context, `${name} ${key}`);
      const request = {
        method: 'PUT' as const,
        path: `/api/v1/secrets/${segment(name)}/${segment(key)}`,
        body: { value },
      };
      if (options.dryRun) return showRequests(context, api, [request]);
      await api.json(request);
      say(context, `secret ${name} ${key} stored`);
    });
}
