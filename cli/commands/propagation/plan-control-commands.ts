import type { Command } from 'commander';
import type { AttemptView } from '../../../domain/propagation/plan-request-schema.ts';
import type { PlanView } from '../../../domain/propagation/plan-view-schema.ts';
import { type ApiRequest, segment } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { EXIT, usage } from '../../failure.ts';
import { seconds } from '../../input/pairs.ts';
import {
  apiOf,
  type OutputOptions,
  perform,
  type WriteOptions,
  withDryRun,
  withOutput,
  withServer,
} from '../../options.ts';
import { type Followed, followPlan, lastTransition } from './follow-plan.ts';
import { planId, planPath } from './plan-name.ts';
import { writeReport } from './plan-read-commands.ts';

const PLAN = 'id of the plan, how it begins, or last, last1, ...';

interface StartOptions extends OutputOptions, WriteOptions {
  wait?: boolean;
  timeout?: number;
  untilError?: boolean;
}

const withWaiting = (command: Command): Command =>
  withDryRun(withOutput(command))
    .option('--wait', 'wait for the end of the plan and report it; its success is the exit status')
    .option('--timeout <seconds>', 'stop waiting after so long (exit status 6); the plan goes on', seconds)
    .option('--until-error', 'stop waiting at the first node that fails (exit status 1); the plan goes on');

/** The verbs of `muster plan` that say how a plan is to go on. */
export function planControlCommands(noun: Command, context: CliContext): void {
  withWaiting(noun.command('run'))
    .description('start a plan; with --wait also follow a plan that runs')
    .argument('<plan>', PLAN)
    .action((word: string, options: StartOptions) => start(context, 'run', word, undefined, options));

  for (const [verb, description] of [
    ['stop', 'end a plan: what is in progress finishes, nothing else starts'],
    ['abort', 'end a plan and what is in progress'],
    ['pause', 'start nothing new of a plan'],
    ['unpause', 'go on with a paused plan'],
    ['abandon', 'give a plan up for good, and free what it has not committed'],
  ] as const) {
    withDryRun(withServer(noun.command(verb)))
      .description(description)
      .argument('<plan>', PLAN)
      .action(async (word: string, options: WriteOptions) => {
        const api = apiOf(context, options);
        const path = `${planPath(await planId(api, word))}/${verb}`;
        const plan = await perform<PlanView>(context, api, { method: 'POST', path }, options);
        if (plan !== undefined) say(context, stateLine(plan));
      });
  }

  withWaiting(noun.command('resume'))
    .description('go on with a plan that has ended: with what was skipped, blocked or not triggered')
    .argument('<plan>', PLAN)
    .action((word: string, options: StartOptions) => start(context, 'resume', word, undefined, options));

  withWaiting(noun.command('retry'))
    .description('go on with a plan that has failed: with what failed, and what that has blocked')
    .argument('<plan>', PLAN)
    .argument('[node...]', 'only these of the nodes that failed')
    .action((word: string, nodes: string[], options: StartOptions) =>
      start(context, 'retry', word, nodes.length === 0 ? undefined : { nodes }, options),
    );

  withDryRun(withServer(noun.command('delete')))
    .description('remove a plan with its nodes, attempts and their output; what was committed stays')
    .argument('<plan>', PLAN)
    .action(async (word: string, options: WriteOptions) => {
      const api = apiOf(context, options);
      const id = await planId(api, word);
      await perform(context, api, { method: 'DELETE', path: planPath(id) }, options);
      if (!options.dryRun) say(context, `plan ${id} removed`);
    });

  withDryRun(withServer(noun.command('release')))
    .description('free target and resource of an attempt whose machine cannot say that its run is gone')
    .argument('<attempt>', 'id of the attempt')
    .action(async (id: string, options: WriteOptions) => {
      const request: ApiRequest = { method: 'POST', path: `/api/v1/propagation/attempts/${segment(id)}/release` };
      const attempt = await perform<AttemptView>(context, apiOf(context, options), request, options);
      if (attempt !== undefined) say(context, `what attempt ${id} held is free`);
    });
}

const stateLine = ({ id, state, wish }: PlanView): string =>
  `plan ${id} is ${state}${wish === null ? '' : `, and is to ${wish}`}`;

/** Starts a plan, or goes on with it; with `--wait` follows it and writes its report. */
async function start(
  context: CliContext,
  verb: 'run' | 'resume' | 'retry',
  word: string,
  body: unknown,
  options: StartOptions,
): Promise<void> {
  const { wait = false, timeout, untilError, dryRun } = options;
  if (!wait && (timeout !== undefined || untilError)) throw usage('--timeout and --until-error need --wait');
  const api = apiOf(context, options);
  const id = await planId(api, word);
  const path = planPath(id);
  const after = wait && !dryRun ? await lastTransition(api, path) : 0;
  const request: ApiRequest = { method: 'POST', path: `${path}/${verb}`, ...(body === undefined ? {} : { body }) };
  const plan = await perform<PlanView>(context, api, request, options);
  if (plan === undefined) return;
  say(context, stateLine(plan));
  if (!wait) return;
  const followed = await followPlan(context, api, path, { after, timeout, untilError });
  if ('detached' in followed) {
    say(
      context,
      `the plan goes on: \`./muster plan run ${id} --wait\` follows it, \`./muster plan stop ${id}\` ends it`,
    );
    context.exit = EXIT.interrupted;
    return;
  }
  await writeReport(context, api, path, options);
  say(context, endLine(id, followed));
  if (!('end' in followed) || followed.end.state !== 'succeeded') context.exit = EXIT.failed;
}

function endLine(id: string, followed: Exclude<Followed, { detached: true }>): string {
  if ('failed' in followed) return `node ${followed.failed} failed; plan ${id} goes on`;
  const { state } = followed.end;
  if (state === null) return `plan ${id} was removed`;
  return state === 'abandoned'
    ? `plan ${id} was abandoned`
    : `plan ${id} ${state === 'stopped' ? 'was stopped' : state}`;
}
