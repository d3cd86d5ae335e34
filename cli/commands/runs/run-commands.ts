import type { Command } from 'commander';
import { SESSION_KIND } from '../../../domain/runs/owner.ts';
import type { RunStreamEnd, RunView } from '../../../domain/runs/run-schema.ts';
import { segment } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { EXIT } from '../../failure.ts';
import { copyLogs, followLogs } from '../../follow/follow-logs.ts';
import { integer } from '../../input/pairs.ts';
import { apiOf, type OutputOptions, type ServerOptions, withOutput, withReason, withServer } from '../../options.ts';
import { cell, type View } from '../../output/columns.ts';
import { renderOne, writeData } from '../../output/render.ts';
import { fieldList } from '../../output/table.ts';

const path = (id: string): string => `/api/v1/runs/${segment(id)}`;
const ownerText = ({ owner }: RunView): string => (owner === null ? '' : `${owner.kind} ${owner.name ?? owner.id}`);

const view: View<RunView> = {
  noun: 'runs',
  name: (run) => run.id,
  columns: [
    { title: 'ID', value: (run) => run.id },
    { title: 'OWNER', value: ownerText },
    { title: 'STATE', value: (run) => run.state },
    { title: 'STATUS', value: (run) => cell(run.exit_status) },
  ],
};

/** A run for people. */
function details(run: RunView): string {
  return fieldList([
    ['id', run.id],
    ['owner', ownerText(run)],
    // People count layers from 1, as in every sentence; the API counts from 0.
    ...(run.owner?.kind === SESSION_KIND ? [['layer', cell(run.layer + 1)] as [string, string]] : []),
    ['attempt', cell(run.attempt)],
    ['machine', run.machine],
    ['state', run.state],
    ['exit status', cell(run.exit_status)],
    ['error', cell(run.error)],
    ['hosts', `${run.hosts}, ${run.failed_hosts} failed`],
    ['recorded', run.created_at],
    ['started', cell(run.started_at)],
    ['ended', cell(run.ended_at)],
  ]);
}

/** `muster run ...` */
export function runCommands(program: Command, context: CliContext): void {
  const noun = program.command('run').description('single runs of a program, of sessions and of any other owner');

  withOutput(noun.command('get'))
    .description('show one run: whose it is, where it is, how it ended')
    .argument('<id>')
    .action(async (id: string, options: OutputOptions) => {
      const run = await apiOf(context, options).json<RunView>({ method: 'GET', path: path(id) });
      writeData(context, await renderOne(view, run, options.output, details));
    });

  withServer(noun.command('logs'))
    .description('show the output of a run')
    .argument('<id>')
    .option('-f, --follow', 'go on until the run is over')
    .option('--host <name>', 'the results of one host instead')
    .option('--tail <count>', 'begin with the newest so many pieces', integer(1))
    .action(async (id: string, options: ServerOptions & { follow?: boolean; host?: string; tail?: number }) => {
      const api = apiOf(context, options);
      const query = { host: options.host, tail: options.tail };
      if (!options.follow) return copyLogs(context, api, path(id), query);
      const end = (await followLogs(context, api, path(id), query)) as RunStreamEnd | undefined;
      if (end === undefined) return;
      say(context, end.deleted ? `run ${id} was removed` : `run ${id} ${endText(end)}`);
      if (end.exit_status !== 0) context.exit = EXIT.failed;
    });

  withReason(withServer(noun.command('end')))
    .description('end a run on its machine; its session or other owner goes on by its own rules')
    .argument('<id>')
    .action(async (id: string, options: ServerOptions) => {
      await apiOf(context, options).json<RunView>({ method: 'POST', path: `${path(id)}/end` });
      say(context, `run ${id} is being ended; follow it with \`./muster run logs -f ${id}\``);
    });
}

const endText = ({ state, exit_status, error }: RunStreamEnd): string =>
  state === 'lost' ? 'was lost' : `ended with status ${exit_status}${error === null ? '' : `: ${error}`}`;
