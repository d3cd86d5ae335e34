import { type Command, InvalidArgumentError, Option } from 'commander';
import { ROLES } from '../../../domain/access/roles.ts';
import type { TokenCreated, TokenView } from '../../../domain/access/schema.ts';
import { segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure } from '../../failure.ts';
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
import { cell, type View } from '../../output/columns.ts';
import { isValueFormat } from '../../output/formats.ts';
import { renderValue, writeData, writeList } from '../../output/render.ts';

const PATH = '/api/v1/tokens';
const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

interface CreateOptions extends OutputOptions, WriteOptions {
  role: string;
  name?: string;
  component?: string;
  expires?: number;
}

const view: View<TokenView> = {
  noun: 'tokens',
  name: (token) => token.name,
  columns: [
    { title: 'NAME', value: (token) => token.name },
    { title: 'ROLE', value: (token) => token.role },
    { title: 'COMPONENT', value: (token) => cell(token.component) },
    { title: 'CREATED', value: (token) => token.created_at },
    { title: 'BY', value: (token) => cell(token.created_by) },
    {
      title: 'EXPIRES',
      value: (token) => (token.expired ? `expired ${token.expires_at}` : (token.expires_at ?? 'never')),
    },
    { title: 'LAST USED', value: (token) => token.last_used_at ?? 'never' },
    { title: 'ID', value: (token) => token.id, wide: true },
  ],
};

/** Seconds of a length of time such as `30d`. */
function lifetime(text: string): number {
  const [, count, unit = ''] = /^([1-9][0-9]{0,8})([smhdw])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNITS[unit] ?? Number.NaN);
  if (Number.isNaN(seconds)) throw new InvalidArgumentError('It must be a number with s, m, h, d or w, such as 30d.');
  return seconds;
}

/** It cannot be shown again, so it is worth nothing to anybody. */
const lost = (name: string, { code, message, exit }: CliFailure): CliFailure =>
  new CliFailure(
    code,
    `${message}; token ${name} exists all the same`,
    exit,
    `\`./muster token revoke ${name}\` ends it`,
  );

/** `muster token ...`; a token is written to stdout once and nowhere else. */
export function tokenCommands(program: Command, context: CliContext): void {
  const noun = program.command('token').description('who may use the API');

  withDryRun(withOutput(noun.command('create')))
    .description('make a token and write it to stdout, the only time that it is shown')
    .addOption(new Option('--role <role>', 'what it may do').choices([...ROLES]).makeOptionMandatory())
    .option('--name <name>', 'stored with everything that is done with it (default: the role and random digits)')
    .option('--component <id>', 'for the role node: the component it speaks for')
    .option('--expires <time>', 'how long it is good for, such as 30d (default: until it is revoked)', lifetime)
    .action(async (options: CreateOptions) => {
      const { role, name, component, expires } = options;
      const body = { role, name, component, expires_in: expires };
      const request = { method: 'POST', path: PATH, body } as const;
      const created = await perform<TokenCreated>(context, apiOf(context, options), request, options);
      if (created === undefined) return;
      const { output } = options;
      const text = isValueFormat(output) ? await renderValue(created, output) : `${created.token}\n`;
      try {
        writeData(context, text);
      } catch (error) {
        throw error instanceof CliFailure ? lost(created.name, error) : error;
      }
      const until = created.expires_at === null ? 'does not expire' : `expires ${created.expires_at}`;
      say(context, `token ${created.name} of role ${created.role} created; it ${until}, and it is not shown again`);
    });

  withLimit(withOutput(noun.command('list')))
    .description('list tokens that are not revoked')
    .action(async (options: OutputOptions & { limit?: number }) => {
      const tokens = await allPages<TokenView>(apiOf(context, options), PATH, 'tokens', {}, options.limit);
      await writeList(context, view, tokens, options);
    });

  withDryRun(withServer(noun.command('revoke')))
    .description('make tokens worthless, at once')
    .argument('<name...>', 'names or ids')
    .action(async (names: string[], options: WriteOptions) => {
      const api = apiOf(context, options);
      for (const name of names) {
        await perform(context, api, { method: 'DELETE', path: `${PATH}/${segment(name)}` }, options);
        if (!options.dryRun) say(context, `token ${name} revoked`);
      }
    });
}
