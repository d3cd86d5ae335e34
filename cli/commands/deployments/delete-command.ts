import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { DeploymentView } from '../../../domain/deployments/deployment-schema.ts';
import type { ApiClient } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, interrupted, usage } from '../../failure.ts';
import { apiOf, perform, type WaitOptions, type WriteOptions, withDryRun, withServer } from '../../options.ts';
import { DEPLOYMENT_ARGUMENT, deploymentPath } from './deployment-path.ts';
import { countsText } from './deployment-view.ts';
import { LOOK_MS, withContextWait } from './wait-for-context.ts';

/** `muster deployment delete` */
export function deleteCommand(noun: Command, context: CliContext): void {
  withContextWait(withDryRun(withServer(noun.command('delete'))))
    .description('take deployments off their clusters, and remove all records of them')
    .argument('<deployment...>', DEPLOYMENT_ARGUMENT)
    .action(async (names: string[], options: WriteOptions & WaitOptions) => {
      if (!options.wait && options.timeout !== undefined) throw usage('--timeout needs --wait');
      const api = apiOf(context, options);
      const until = options.timeout === undefined ? undefined : context.now() + options.timeout * 1_000;
      const left: string[] = [];
      for (const name of names) {
        const request = { method: 'DELETE', path: deploymentPath(name) } as const;
        const answer = await perform<{ is_gone: boolean }>(context, api, request, options);
        if (answer === undefined) continue;
        say(context, `deployment ${name} ${answer.is_gone ? 'removed' : 'is being removed'}`);
        if (!answer.is_gone) left.push(name);
      }
      if (options.wait) for (const name of left) await waitForRemoval(context, api, name, until);
    });
}

/** Waits until a deployment is gone. A termination that has failed is the exit status 1. Throws `timed_out`. */
async function waitForRemoval(
  context: CliContext,
  api: ApiClient,
  name: string,
  until: number | undefined,
): Promise<void> {
  for (;;) {
    const found = await find(api, name);
    if (found === null) return say(context, `deployment ${name} removed`);
    const state = [found.status ?? found.state, countsText(found.counts)].filter((text) => text !== '').join(', ');
    if (!found.is_removed) {
      context.exit = EXIT.failed;
      return say(context, `deployment ${name} is not removed: ${state}; \`./muster deployment explain ${name}\``);
    }
    if (until !== undefined && context.now() >= until) {
      throw new CliFailure('timed_out', `deployment ${name} is still being removed: ${state}`, EXIT.timedOut);
    }
    await pause(LOOK_MS, undefined, { signal: context.signal }).catch(() => undefined);
    if (context.signal.aborted) throw interrupted();
  }
}

async function find(api: ApiClient, name: string): Promise<DeploymentView | null> {
  try {
    return await api.json<DeploymentView>({ method: 'GET', path: deploymentPath(name) });
  } catch (error) {
    if (error instanceof CliFailure && error.code === 'not_found') return null;
    throw error;
  }
}
