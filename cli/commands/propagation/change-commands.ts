import type { Command } from 'commander';
import type { PlanPreviewView } from '../../../domain/propagation/plan-request-schema.ts';
import type { PlanView } from '../../../domain/propagation/plan-view-schema.ts';
import type { DiscardedView } from '../../../domain/propagation/request-schema.ts';
import type { HistoryItemView, StagedItemView } from '../../../domain/propagation/schema.ts';
import type { ApiRequest } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { usage } from '../../failure.ts';
import { integer } from '../../input/pairs.ts';
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
import { counted } from '../../output/names.ts';
import { renderValue, writeData, writeList } from '../../output/render.ts';

const PATH = '/api/v1/propagation/changes';
/** Committed changes that `history` shows unless told otherwise. */
const SHOWN_HISTORY = 5;

interface ShowOptions extends OutputOptions {
  details?: boolean;
}

interface ProcessOptions extends OutputOptions, WriteOptions {
  tags?: string;
  name?: string;
  force?: boolean;
  preview?: boolean;
}

const stagedView: View<StagedItemView> = {
  noun: 'changes',
  name: ({ uid }) => uid,
  columns: [
    { title: 'CHANGE', value: ({ log_action }) => log_action },
    { title: 'STATE', value: ({ state }) => state },
    { title: 'PLAN', value: ({ plan }) => cell(plan) },
    { title: 'STAGED', value: ({ staged_at }) => staged_at },
    { title: 'UID', value: ({ uid }) => uid },
  ],
};

const historyView: View<HistoryItemView> = {
  noun: 'changes',
  name: ({ uid }) => uid,
  columns: [
    { title: 'CHANGE', value: ({ log_action }) => log_action },
    { title: 'PLAN', value: ({ plan }) => cell(plan) },
    { title: 'COMMITTED', value: ({ committed_at }) => committed_at },
    { title: 'UID', value: ({ uid }) => uid },
  ],
};

type Logged = Pick<StagedItemView, 'uid' | 'log_action' | 'details'>;

/** `log task=<resource.action> uid=<uid>`, and below it the differences. */
function logLines({ log_action, uid, details }: Logged, withDetails: boolean | undefined): string {
  const lines = [`log task=${log_action} uid=${uid}`, ...(withDetails ? details : [])];
  return lines.map((line) => `${line}\n`).join('');
}

/** Writes staged changes as lines, or in the form that is asked for. */
export async function writeItems(context: CliContext, items: StagedItemView[], options: ShowOptions): Promise<void> {
  const { output, details } = options;
  if (output !== 'table') return writeList(context, stagedView, items, output);
  writeData(context, items.length === 0 ? 'No changes\n' : items.map((item) => logLines(item, details)).join(''));
}

/** `muster change ...` */
export function changeCommands(program: Command, context: CliContext): void {
  const noun = program.command('change').description('what differs from what was committed');

  withDryRun(withOutput(noun.command('stage')))
    .description('work out what differs; with --tags or names stage an action of these resources as well')
    .argument('[resource...]')
    .option('--tags <expression>', 'resources whose tags match, as service=web&(zone=a|zone=b)')
    .option('--action <action>', 'default: update, or run for a resource that was never committed')
    .option('-d, --details', 'with the differences')
    .action(async (names: string[], options: ShowOptions & WriteOptions & { tags?: string; action?: string }) => {
      const { tags, action } = options;
      const api = apiOf(context, options);
      const body = { tags, action, ...(names.length === 0 ? {} : { names }) };
      type Staged = { changes: StagedItemView[]; next: { after_id: string } | null };
      const staged = await perform<Staged>(context, api, { method: 'POST', path: `${PATH}/stage`, body }, options);
      if (staged === undefined) return;
      const { changes, next } = staged;
      const query = { after_id: next?.after_id };
      const others = next === null ? [] : await allPages<StagedItemView>(api, `${PATH}/staged`, 'changes', query);
      await writeItems(context, [...changes, ...others], options);
    });

  withLimit(withOutput(noun.command('list')))
    .description('list staged changes')
    .option('-d, --details', 'with the differences')
    .action(async (options: ShowOptions & { limit?: number }) => {
      const api = apiOf(context, options);
      const items = await allPages<StagedItemView>(api, `${PATH}/staged`, 'changes', {}, options.limit);
      await writeItems(context, items, options);
    });

  withDryRun(withServer(noun.command('discard')))
    .description('give up staged changes and put back what was committed')
    .argument('[uid...]')
    .option('--all', 'all of them')
    .action(async (uids: string[], options: WriteOptions & { all?: boolean }) => {
      if ((uids.length === 0) !== (options.all === true)) throw usage('give either uids of changes or --all');
      const body = options.all ? { all: true } : { uids };
      const request: ApiRequest = { method: 'POST', path: `${PATH}/discard`, body };
      const discarded = await perform<DiscardedView>(context, apiOf(context, options), request, options);
      if (discarded === undefined) return;
      writeData(context, discarded.changes.map((item) => logLines({ ...item, details: [] }, false)).join(''));
      say(context, `${counted(discarded.changes.length, 'change')} discarded`);
    });

  withDryRun(withOutput(noun.command('process')))
    .description('make a plan of staged changes, after the whole model is staged; the plan is not started')
    .option('--tags <expression>', 'only resources whose tags match; default: all that is staged')
    .option('--name <name>', 'name of the plan (default: system_log)')
    .option('--force', 'also where values of inputs do not fit')
    .option('--preview', 'show what would run, in order, and store nothing')
    .action(async (options: ProcessOptions) => {
      const { tags, name, force, preview, output } = options;
      const query = preview ? { preview: true } : undefined;
      const request: ApiRequest = { method: 'POST', path: `${PATH}/process`, query, body: { tags, name, force } };
      const made = await perform<PlanView | PlanPreviewView>(context, apiOf(context, options), request, options);
      if (made === undefined) return;
      if (isValueFormat(output)) return writeData(context, await renderValue(made, output));
      writeData(context, 'id' in made ? `${made.id}\n` : made.order.map((node) => `${node}\n`).join(''));
    });

  withOutput(noun.command('history'))
    .description('list committed changes, newest first')
    .option('--limit <count>', 'at most so many', integer(1), SHOWN_HISTORY)
    .option('--short', 'their uids alone')
    .option('-d, --details', 'with the differences')
    .action(async (options: ShowOptions & { limit: number; short?: boolean }) => {
      const { limit, short, details, output } = options;
      const api = apiOf(context, options);
      const items = await allPages<HistoryItemView>(api, `${PATH}/history`, 'changes', {}, limit);
      const isText = output === 'table';
      if (!isText) return writeList(context, historyView, items, short ? 'name' : output);
      const lines = items.map((item) => (short ? `${item.uid}\n` : logLines(item, details)));
      writeData(context, lines.length === 0 ? 'No history\n' : lines.join(''));
    });
}
