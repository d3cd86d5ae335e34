import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { ComponentView } from '../../../domain/components/schema.ts';
import type { ApiClient } from '../../client/api-client.ts';
import { pages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, interrupted, usage } from '../../failure.ts';
import { seconds } from '../../input/pairs.ts';
import { apiOf, type ServerOptions, withServer } from '../../options.ts';
import { counted, someOf } from '../../output/names.ts';
import { expandHosts, hostsOf, requireKnown } from './component-selection.ts';

/** Time between two looks, ms. */
const LOOK_MS = 2_000;
/** Ids that one request asks for: they travel in its address. */
const IDS_AT_ONCE = 500;

interface WaitOptions extends ServerOptions {
  for: 'configured';
  timeout?: number;
}

/** `muster component wait HOSTS --for configured` */
export function waitCommand(noun: Command, context: CliContext): void {
  withServer(noun.command('wait'))
    .description('wait until components are configured; exit status 1 when one cannot come to it')
    .argument('<hosts...>', 'hostlist, as n[1-4],!n3 or @role=compute; - for stdin')
    .addOption(new Option('--for <status>', 'what to wait for').choices(['configured']).default('configured'))
    .option('--timeout <seconds>', 'stop waiting after so long (exit status 6)', seconds)
    .action((words: string[], options: WaitOptions) => waitForComponents(context, words, options));
}

async function waitForComponents(context: CliContext, words: string[], options: WaitOptions): Promise<void> {
  const api = apiOf(context, options);
  const names = await expandHosts(api, (await hostsOf(context, words, undefined)) ?? '');
  if (names.length === 0) throw usage('the hostlist means no component');
  const until = options.timeout === undefined ? undefined : context.now() + options.timeout * 1_000;
  for (let told = -1; ; ) {
    const found = await statusesOf(api, names);
    requireKnown(names.filter((name) => !found.has(name)));
    const of = (status: string) => names.filter((name) => found.get(name) === status);
    const [configured, pending] = [of('configured').length, of('pending')];
    if (configured !== told) say(context, `${configured} of ${counted(names.length, 'component')} configured`);
    told = configured;
    if (pending.length === 0) return requireConfigured(of('failed'), of('unconfigured'));
    if (until !== undefined && context.now() >= until) {
      const detail = `${counted(pending.length, 'component')} pending after ${options.timeout} s: ${someOf(pending)}`;
      throw new CliFailure('timed_out', detail, EXIT.timedOut);
    }
    await pause(LOOK_MS, undefined, { signal: context.signal }).catch(() => undefined);
    if (context.signal.aborted) throw interrupted();
  }
}

/** The status of each of these components that there is. */
async function statusesOf(api: ApiClient, names: readonly string[]): Promise<Map<string, string>> {
  const statuses = new Map<string, string>();
  for (let start = 0; start < names.length; start += IDS_AT_ONCE) {
    const ids = names.slice(start, start + IDS_AT_ONCE).join(',');
    for await (const component of pages<ComponentView>(api, '/v3/components', 'components', { ids }))
      statuses.set(component.id, component.configuration_status);
  }
  return statuses;
}

/** Nothing is pending any more: throws where components will not be configured by themselves. */
function requireConfigured(failed: readonly string[], unconfigured: readonly string[]): void {
  if (failed.length > 0) {
    const fix = 'find out why with `./muster component get ID`, then `./muster component reset-errors ID`';
    const detail = `${counted(failed.length, 'component')} failed: ${someOf(failed)}`;
    throw new CliFailure('not_configured', detail, EXIT.failed, fix);
  }
  if (unconfigured.length === 0) return;
  const detail = `${counted(unconfigured.length, 'component')} without a desired configuration: ${someOf(unconfigured)}`;
  throw new CliFailure('not_configured', detail, EXIT.failed, 'set it with `./muster component set ID --config NAME`');
}
