import { type Command, Option } from 'commander';
import { ROLLOUT_STATES } from '../../../domain/batches/rollout.ts';
import type { Rollout, RolloutDetail } from '../../../domain/batches/rollout-schema.ts';
import { segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
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
import { renderOne, writeData, writeList } from '../../output/render.ts';
import { watching } from '../../watch.ts';
import { rolloutDetails, rolloutLine, rolloutView } from './rollout-view.ts';

const PATH = '/api/v1/rollouts';

interface ListOptions extends OutputOptions, WatchOptions {
  all?: boolean;
  state?: string;
  configuration?: string;
  limit?: number;
}

/** `muster rollout ...` */
export function rolloutCommands(program: Command, context: CliContext): void {
  const noun = program.command('rollout').description('how changes of configurations go over their components');

  withWatch(withLimit(withOutput(noun.command('list'))))
    .description('list rollouts of configurations with a rollout policy, newest first')
    .option('--all', 'also those of what configurations desired before')
    .addOption(new Option('--state <state>', 'only those').choices(ROLLOUT_STATES))
    .option('--configuration <name>', 'only those of the configuration')
    .action(async ({ all, state, configuration, limit, ...options }: ListOptions) => {
      const api = apiOf(context, options);
      const query = { all, state, configuration };
      await watching(context, options, async () => {
        const rollouts = await allPages<Rollout>(api, PATH, 'rollouts', query, limit);
        await writeList(context, rolloutView(context.now()), rollouts, options);
      });
    });

  withWatch(withOutput(noun.command('get')))
    .description('show the current rollout of a configuration')
    .argument('<configuration>')
    .action(async (configuration: string, options: OutputOptions & WatchOptions) => {
      const api = apiOf(context, options);
      const path = `${PATH}/${segment(configuration)}`;
      await watching(context, options, async () => {
        const rollout = await api.json<RolloutDetail>({ method: 'GET', path });
        const view = rolloutView(context.now());
        writeData(context, await renderOne(view, rollout, options.output, () => rolloutDetails(rollout)));
      });
    });

  withDryRun(withServer(noun.command('stop')))
    .description('send nothing more of a configuration; its sessions go on')
    .argument('<configuration>')
    .action(async (configuration: string, { reason, ...options }: WriteOptions & { reason?: string }) => {
      await command(context, configuration, 'stop', { reason }, options);
    });

  withDryRun(withServer(noun.command('resume')))
    .description('let a stopped rollout go on; its failures so far are forgiven')
    .argument('<configuration>')
    .action(async (configuration: string, options: WriteOptions) => {
      await command(context, configuration, 'resume', undefined, options);
    });
}

async function command(
  context: CliContext,
  configuration: string,
  word: 'stop' | 'resume',
  body: object | undefined,
  options: WriteOptions,
): Promise<void> {
  const path = `${PATH}/${segment(configuration)}/${word}`;
  const request = { method: 'POST', path, ...(body === undefined ? {} : { body }) } as const;
  const rollout = await perform<Rollout>(context, apiOf(context, options), request, options);
  if (rollout !== undefined) say(context, rolloutLine(rollout));
}
