import { type Command, Option } from 'commander';
import type { SessionHost } from '../../../domain/sessions/detail-schema.ts';
import { SESSION_STATUSES, type Session, SUCCEEDED } from '../../../domain/sessions/schema.ts';
import { segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import type { CliContext } from '../../context.ts';
import { hostSummaryView, summariseHost } from '../../follow/host-table.ts';
import { followToEnd } from '../../follow/session-end.ts';
import { pair, tagFilter } from '../../input/pairs.ts';
import {
  apiOf,
  type OutputOptions,
  type WaitOptions,
  type WatchOptions,
  withLimit,
  withOutput,
  withWait,
  withWatch,
} from '../../options.ts';
import { writeList } from '../../output/render.ts';
import { watching } from '../../watch.ts';
import { hostResultView, resultsOf } from './host-result-view.ts';
import { sessionView } from './session-view.ts';
import { showSession } from './show-session.ts';

export interface SessionFilters {
  status?: string;
  succeeded?: string;
  nameContains?: string;
  tag?: Record<string, string>;
  minAge?: string;
  maxAge?: string;
}

/** Adds the filters that listing and deleting share (cfs-api 10). */
export const withFilters = (command: Command): Command =>
  command
    .addOption(new Option('--status <status>').choices(SESSION_STATUSES))
    .addOption(new Option('--succeeded <value>').choices(SUCCEEDED))
    .option('--name-contains <text>', 'only names with this text')
    .option('--tag <name=value>', 'only those with the tag (may be repeated)', pair)
    .option('--min-age <age>', 'only those started so long ago: 30m, 12h, 7d, 2w')
    .option('--max-age <age>', 'only those started since: 30m, 12h, 7d, 2w');

/** The filters as query parameters. */
export const filterQuery = (filters: SessionFilters): Record<string, string | undefined> => ({
  status: filters.status,
  succeeded: filters.succeeded,
  name_contains: filters.nameContains,
  tags: tagFilter(filters.tag),
  min_age: filters.minAge,
  max_age: filters.maxAge,
});

/** Adds `session list`, `get` and `hosts`. */
export function readCommands(noun: Command, context: CliContext): void {
  withWatch(withLimit(withFilters(withOutput(noun.command('list')))))
    .description('list sessions')
    .action(async (options: OutputOptions & WatchOptions & SessionFilters & { limit?: number }) => {
      const api = apiOf(context, options);
      await watching(context, options, async () => {
        const records = await allPages<Session>(api, '/v3/sessions', 'sessions', filterQuery(options), options.limit);
        await writeList(context, sessionView(context.now()), records, options.output);
      });
    });

  withWait(withWatch(withOutput(noun.command('get'))))
    .description('show one session: what it runs, what it does now and why')
    .argument('<name>')
    .action(async (name: string, options: OutputOptions & WatchOptions & WaitOptions) => {
      const api = apiOf(context, options);
      if (options.wait) return followToEnd(context, api, name, options);
      await watching(context, options, () => showSession(context, api, name, options));
    });

  withWatch(withOutput(noun.command('hosts')))
    .description('what each host of a session reached')
    .argument('<name>')
    .option('--by-layer', 'one line per layer and attempt instead of one per host')
    .action(async (name: string, options: OutputOptions & WatchOptions & { byLayer?: boolean }) => {
      const api = apiOf(context, options);
      const path = `/api/v1/sessions/${segment(name)}/hosts`;
      await watching(context, options, async () => {
        const hosts = await allPages<SessionHost>(api, path, 'hosts');
        if (options.byLayer) await writeList(context, hostResultView, hosts.flatMap(resultsOf), options.output);
        else
          await writeList(
            context,
            hostSummaryView,
            hosts.map((host) => summariseHost(host)),
            options.output,
          );
      });
    });
}
