import type { Command } from 'commander';
import type { OperatorReconcileView, ReconcileStreamEnd } from '../../../domain/operator/view-schema.ts';
import { type ApiClient, segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { copyLogs, followLogs } from '../../follow/follow-logs.ts';
import { integer } from '../../input/pairs.ts';
import { apiOf, type ServerOptions, withServer } from '../../options.ts';
import { findResource, type OperatorOption, pathOf } from './find-resource.ts';
import { withResource } from './read-resources.ts';

interface LogOptions extends ServerOptions, OperatorOption {
  follow?: boolean;
  tail?: number;
  reconcile?: string;
}

/** `muster operator logs`: the output of the newest reconcile of a resource, or of a named one. */
export function logCommand(noun: Command, context: CliContext): void {
  withResource(withServer(noun.command('logs')))
    .description("show the output of a custom resource's newest reconcile")
    .option('-f, --follow', 'go on until the reconcile is over')
    .option('--tail <count>', 'begin with the newest so many pieces', integer(1))
    .option('--reconcile <id>', 'of this reconcile instead of the newest')
    .action(async (kind: string, name: string, options: LogOptions) => {
      const api = apiOf(context, options);
      const id = options.reconcile ?? (await newestOf(api, kind, name, options));
      const path = `/api/v1/operator/reconciles/${segment(id)}`;
      const query = { tail: options.tail };
      if (!options.follow) return copyLogs(context, api, path, query);
      const end = (await followLogs(context, api, path, query)) as ReconcileStreamEnd | undefined;
      if (end === undefined) return;
      say(context, endText(id, end));
      if (end.outcome !== 'ok') context.exit = EXIT.failed;
    });
}

async function newestOf(api: ApiClient, kind: string, name: string, options: OperatorOption): Promise<string> {
  const path = `${pathOf(await findResource(api, kind, name, options))}/reconciles`;
  const [newest] = await allPages<OperatorReconcileView>(api, path, 'reconciles', {}, 1);
  if (newest !== undefined) return newest.id;
  throw new CliFailure('operator_reconcile_not_found', `${kind} ${name} has no reconcile yet`, EXIT.notFound);
}

function endText(id: string, { deleted, outcome, messages }: ReconcileStreamEnd): string {
  if (deleted) return `reconcile ${id} was removed`;
  return [`reconcile ${id} ended: ${outcome}`, ...messages].join('\n  ');
}
