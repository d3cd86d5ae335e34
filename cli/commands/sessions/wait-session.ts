import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { SessionDetail } from '../../../domain/sessions/detail-schema.ts';
import { segment } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, exitOfSession, interrupted } from '../../failure.ts';
import { seconds } from '../../input/pairs.ts';
import { apiOf, type ServerOptions, withServer } from '../../options.ts';

/** Time between two looks, ms. */
const LOOK_MS = 1_000;

interface WaitOptions extends ServerOptions {
  for: 'complete' | 'running';
  timeout?: number;
}

const ENDS: Readonly<Record<string, string>> = { true: 'succeeded', false: 'failed' };

/** `muster session wait NAME` */
export function waitCommand(noun: Command, context: CliContext): void {
  withServer(noun.command('wait'))
    .description('wait until a session is complete, or runs; the success of one that is complete is the exit status')
    .argument('<name>')
    .addOption(new Option('--for <state>', 'what to wait for').choices(['complete', 'running']).default('complete'))
    .option('--timeout <seconds>', 'stop waiting after so long (exit status 6)', seconds)
    .action((name: string, options: WaitOptions) => waitForSession(context, name, options));
}

async function waitForSession(context: CliContext, name: string, options: WaitOptions): Promise<void> {
  const api = apiOf(context, options);
  const path = `/api/v1/sessions/${segment(name)}`;
  const until = options.timeout === undefined ? undefined : context.now() + options.timeout * 1_000;
  for (let first: string | undefined; ; ) {
    const session = await api.json<SessionDetail>({ method: 'GET', path });
    first ??= session.id;
    if (session.id !== first) {
      throw new CliFailure('session_not_found', `session ${name} was deleted, and another has its name`, EXIT.notFound);
    }
    const { status, succeeded, message } = session.status.session;
    if (status === 'complete') {
      say(context, `session ${name} ${ENDS[succeeded] ?? 'ended, nobody knows how'}: ${message}`);
      context.exit = exitOfSession(succeeded);
      return;
    }
    if (status === options.for) return say(context, `session ${name} runs`);
    if (until !== undefined && context.now() >= until) {
      const detail = `session ${name} is not ${options.for} after ${options.timeout} s: ${message}`;
      throw new CliFailure('timed_out', detail, EXIT.timedOut);
    }
    await pause(LOOK_MS, undefined, { signal: context.signal }).catch(() => undefined);
    if (context.signal.aborted) throw interrupted();
  }
}
