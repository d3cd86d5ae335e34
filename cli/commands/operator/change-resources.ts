import type { Command } from 'commander';
import type { OperatorReconcileView, OperatorResourceView } from '../../../domain/operator/view-schema.ts';
import { segment } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { laterMoment } from '../../input/moment.ts';
import { apiOf, perform, type WriteOptions, withDryRun, withServer } from '../../options.ts';
import { findResource, type OperatorOption, pathOf } from './find-resource.ts';
import { withOperator, withResource } from './read-resources.ts';
import { nameOf } from './resource-view.ts';

type ChangeOptions = WriteOptions & OperatorOption;

/** Commands that ask something of a resource, or of all resources of an operator. */
export function changeCommands(noun: Command, context: CliContext): void {
  const change = async (
    verb: string,
    kind: string,
    name: string,
    options: ChangeOptions,
    done: (resource: OperatorResourceView) => string,
    body?: object,
  ): Promise<void> => {
    const api = apiOf(context, options);
    const path = `${pathOf(await findResource(api, kind, name, options))}/${verb}`;
    const request = { method: 'POST', path, ...(body === undefined ? {} : { body }) } as const;
    const resource = await perform<OperatorResourceView>(context, api, request, options);
    if (resource !== undefined) say(context, `${resource.kind} ${nameOf(resource)} ${done(resource)}`);
  };

  withDryRun(withResource(withServer(noun.command('reconcile'))))
    .description('reconcile a custom resource now; one that runs does so again at its end')
    .action((kind: string, name: string, options: ChangeOptions) =>
      change('reconcile', kind, name, options, () => 'is to reconcile now'),
    );

  withDryRun(withOperator(withServer(noun.command('cancel'))))
    .description('cancel the reconcile that runs, or the one that waits; it is not tried again')
    .argument('<kind>', 'in any case of letters; or, alone, the id of a reconcile')
    .argument('[name]', 'NAME or NAMESPACE/NAME')
    .action(async (kind: string, name: string | undefined, options: ChangeOptions) => {
      const done = ({ phase }: OperatorResourceView) =>
        phase === 'running' ? 'is being cancelled' : 'waits for nothing now';
      if (name !== undefined) return change('cancel', kind, name, options, done);
      const api = apiOf(context, options);
      const path = `/api/v1/operator/reconciles/${segment(kind)}`;
      const record = await api.json<OperatorReconcileView>({ method: 'GET', path });
      if (record.outcome !== null) {
        throw new CliFailure('operator_reconcile_not_found', `reconcile ${kind} is over`, EXIT.notFound);
      }
      const request = { method: 'POST', path: `${pathOf({ id: record.resource_id })}/cancel` } as const;
      const resource = await perform<OperatorResourceView>(context, api, request, options);
      if (resource !== undefined) say(context, `${resource.kind} ${nameOf(resource)} ${done(resource)}`);
    });

  withDryRun(withResource(withServer(noun.command('pause'))))
    .description('begin no further run of a custom resource; one that goes on ends')
    .option('--until <time>', 'time at which the pause ends, such as 2026-11-21T10:00:00Z', laterMoment)
    .action((kind: string, name: string, options: ChangeOptions & { until?: string }) => {
      const body = options.until === undefined ? {} : { until: options.until };
      const until = ({ paused_until: end }: OperatorResourceView) =>
        end === null ? 'is paused' : `is paused until ${end}`;
      return change('pause', kind, name, options, until, body);
    });

  withDryRun(withResource(withServer(noun.command('resume'))))
    .description('let a paused custom resource run again')
    .action((kind: string, name: string, options: ChangeOptions) =>
      change('resume', kind, name, options, () => 'runs again'),
    );

  withDryRun(withOperator(withServer(noun.command('drain'))))
    .description('take the finalizers of an operator from all of its resources, which are paused behind it')
    .option('--run', 'let each finalizer run first; without it the finalizers go at once')
    .action(async (options: ChangeOptions & { run?: boolean }) => {
      const { operator, run = false } = options;
      const body = { run, ...(operator === undefined ? {} : { operator }) };
      const request = { method: 'POST', path: '/api/v1/operator/drain', body } as const;
      const drained = await perform<{ operator: string; resources: number }>(
        context,
        apiOf(context, options),
        request,
        options,
      );
      if (drained !== undefined) {
        say(context, `${drained.resources} resources of operator ${drained.operator} lose their finalizer`);
      }
    });
}
