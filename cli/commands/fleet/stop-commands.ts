import type { Command } from 'commander';
import type { StopAnswer } from '../../../domain/fleet/stop-schema.ts';
import { type CliContext, say } from '../../context.ts';
import { usage } from '../../failure.ts';
import { confirmMany } from '../../input/confirm.ts';
import { apiOf, perform, type WriteOptions, withDryRun, withServer } from '../../options.ts';
import { counted } from '../../output/names.ts';

interface StopOptions extends WriteOptions {
  all?: boolean;
  yes?: boolean;
}

/** What is counted, as a person reads it. */
const NOUNS: Readonly<Record<string, string>> = {
  batcher: 'batcher',
  operators: 'operator',
  plans: 'plan',
  reconciles: 'reconcile',
  rollouts: 'rollout',
  schedules: 'schedule',
  sessions: 'session',
  deployments: 'waiting deployment',
};

/** `muster stop --all --reason TEXT` */
export function stopCommand(program: Command, context: CliContext): void {
  withDryRun(withServer(program.command('stop')))
    .description(
      'stop everything: pause batcher, rollouts, schedules, plans, deployments and operators, and cancel all sessions and reconciles',
    )
    .option('--all', 'everything; nothing less can be stopped so')
    .option('-y, --yes', 'ask nothing; without a terminal it is needed')
    .action(async ({ all, yes, ...options }: StopOptions) => {
      if (!all) throw usage('say that everything is meant', './muster stop --all --reason TEXT');
      if (!options.reason?.trim()) throw usage('say why', './muster stop --all --reason TEXT');
      const api = apiOf(context, options);
      if (!options.dryRun && !yes) {
        const { counts } = await api.json<{ counts: { sessions: { pending: number; running: number } } | null }>({
          method: 'GET',
          path: '/api/v1/status',
        });
        const open = (counts?.sessions.pending ?? 0) + (counts?.sessions.running ?? 0);
        const question = `Stop everything, and cancel ${counted(open, 'session')} and all reconciles?`;
        await confirmMany(context, question, yes);
      }
      const request = { method: 'POST', path: '/api/v1/stop', body: { reason: options.reason } } as const;
      const answer = await perform<StopAnswer>(context, api, request, options);
      if (answer === undefined) return;
      say(context, `everything is stopped: ${countsText(answer)}`);
      say(context, '`./muster go` lets it go on; cancelled sessions stay cancelled, resources reconcile again');
    });
}

/** `muster go` */
export function goCommand(program: Command, context: CliContext): void {
  withDryRun(withServer(program.command('go')))
    .description('let everything go on that `stop --all` has paused')
    .action(async (options: WriteOptions) => {
      const body = options.reason === undefined ? {} : { reason: options.reason };
      const request = { method: 'POST', path: '/api/v1/go', body } as const;
      const answer = await perform<StopAnswer>(context, apiOf(context, options), request, options);
      if (answer !== undefined) say(context, `everything goes on: ${countsText(answer)}`);
    });
}

/** `1 batcher, 2 schedules, 13 sessions`. */
function countsText({ counts }: StopAnswer): string {
  const texts = Object.entries(counts).flatMap(([kind, count]) =>
    count > 0 ? [counted(count, NOUNS[kind] ?? kind)] : [],
  );
  return texts.length === 0 ? 'nothing was to be done' : texts.join(', ');
}
