import type { SessionDetail, SessionHost } from '../../domain/sessions/detail-schema.ts';
import { type ApiClient, segment } from '../client/api-client.ts';
import { allPages } from '../client/pages.ts';
import { type CliContext, say } from '../context.ts';
import { EXIT, exitOfSession } from '../failure.ts';
import type { OutputOptions } from '../options.ts';
import { isValueFormat, renderValue, writeData, writeList } from '../output/render.ts';
import { oneLine } from '../terminal/neutralise.ts';
import { type FollowOptions, followSession, goingOn } from './follow-session.ts';
import { hostSummaryView, summariseHost } from './host-table.ts';

export interface EndOptions extends OutputOptions, FollowOptions {
  /** Fail when no host ran any task. */
  requireHosts?: boolean;
}

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
  const hosts = found.map((host) => summariseHost(host, session.muster?.check));
  const { output } = options;
  if (output === 'json' || output === 'yaml') {
    writeData(context, await renderValue({ session, hosts }, output));
  } else if (hosts.length > 0 || isValueFormat(output)) {
    await writeList(context, hostSummaryView, hosts, output);
  }
  if (!isValueFormat(output)) for (const image of session.images) say(context, imageLine(image));
  say(context, `session ${name} ${WORDS[end.succeeded] ?? 'has not ended'}: ${oneLine(end.message)}`);
  context.exit = exitOfSession(end.succeeded);
  if (options.requireHosts && hosts.length === 0) {
    say(context, `no host ran any task, which --require-hosts makes a failure`);
    context.exit = EXIT.failed;
  }
}

/** What came of one image. */
function imageLine({ image_id, result_id, result_name, state, message }: SessionDetail['images'][number]): string {
  if (result_id !== null) return `image ${image_id}: new image ${result_id} (${oneLine(result_name)})`;
  return `image ${image_id}: no new image, ${state}${message === '' ? '' : `: ${oneLine(message)}`}`;
}
