import type { SessionDetail, SessionHost } from '../../domain/sessions/detail-schema.ts';
import { type ApiClient, segment } from '../client/api-client.ts';
import { allPages } from '../client/pages.ts';
import { type CliContext, say } from '../context.ts';
import { EXIT, exitOfSession } from '../failure.ts';
import type { OutputOptions } from '../options.ts';
import { isValueFormat } from '../output/formats.ts';
import { renderValue, writeData, writeList } from '../output/render.ts';
import { oneLine } from '../terminal/neutralise.ts';
import { type FollowOptions, followSession, goingOn } from './follow-session.ts';
import { failureLine, hostSummaryView, isToRetry, summariseHost, worstFirst } from './host-table.ts';

export interface EndOptions extends OutputOptions, FollowOptions {
  /** Fail when no host ran any task. */
  requireHosts?: boolean;
}

/** Hosts that the end of a session shows to a person, those that failed first. */
const SHOWN_HOSTS = 20;

const WORDS: Record<string, string> = { true: 'succeeded', false: 'failed', unknown: 'ended, nobody knows how' };

/** Follows a session to its end, writes what each host reached, says how it ended and sets the exit status. */
export async function followToEnd(
  context: CliContext,
  api: ApiClient,
  name: string,
  options: EndOptions,
): Promise<void> {
  const end = await followSession(context, api, name, options);
  if (end === undefined) {
    say(context, `detached: session ${name} goes on; ${goingOn(name)}`);
    context.exit = EXIT.interrupted;
    return;
  }
  const path = `/api/v1/sessions/${segment(name)}`;
  const session = await api.json<SessionDetail>({ method: 'GET', path });
  const found = await allPages<SessionHost>(api, `${path}/hosts`, 'hosts');
  const asked = { check: session.muster?.check ?? false, isCancelled: Boolean(session.cancel) };
  const hosts = found.map((host) => summariseHost(host, asked));
  const worst = worstFirst(hosts);
  const { output } = options;
  if (output === 'json' || output === 'yaml') {
    writeData(context, await renderValue({ session, hosts }, output));
  } else if (isValueFormat(output)) {
    await writeList(context, hostSummaryView, hosts, options);
  } else if (hosts.length > 0) {
    await writeList(context, hostSummaryView, worst.slice(0, SHOWN_HOSTS), options);
    if (hosts.length > SHOWN_HOSTS) {
      say(context, `${hosts.length - SHOWN_HOSTS} more hosts: \`./muster session hosts ${name}\``);
    }
  }
  if (!isValueFormat(output)) for (const image of session.images) say(context, imageLine(image));
  say(context, `session ${name} ${WORDS[end.succeeded] ?? 'has not ended'}: ${oneLine(end.message)}`);
  if (!isValueFormat(output)) {
    for (const failure of session.failures ?? []) say(context, failureLine(failure));
    if (hosts.some(isToRetry)) say(context, `retry them: \`./muster session retry ${name} --hosts failed\``);
  }
  context.exit = exitOfSession(end.succeeded);
  if (options.requireHosts && hosts.every(({ result }) => result === 'not_reached')) {
    say(context, `no host ran any task, which --require-hosts makes a failure`);
    context.exit = EXIT.failed;
  }
}

/** What came of one image. */
function imageLine({ image_id, result_id, result_name, state, message }: SessionDetail['images'][number]): string {
  if (result_id !== null) return `image ${image_id}: new image ${result_id} (${oneLine(result_name)})`;
  return `image ${image_id}: no new image, ${state}${message === '' ? '' : `: ${oneLine(message)}`}`;
}
