import type { Command } from 'commander';
import type { SessionHost, SessionItem } from '../../../domain/sessions/detail-schema.ts';
import { segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import type { CliContext } from '../../context.ts';
import { hostSummaryView, summariseHost } from '../../follow/host-table.ts';
import { followToEnd } from '../../follow/session-end.ts';
import {
  apiOf,
  type OutputOptions,
  type WaitOptions,
  type WatchOptions,
  withLimit,
  withOutput,
  withTable,
  withWait,
  withWatch,
} from '../../options.ts';
import { writeList } from '../../output/render.ts';
import { watching } from '../../watch.ts';
import { hostResultView, resultsOf } from './host-result-view.ts';
import { type SessionFilters, selectionOf, withFilters } from './session-filters.ts';
import { sessionView } from './session-view.ts';
import { showSession } from './show-session.ts';

/** Adds `session list`, `get` and `hosts`. */
export function readCommands(noun: Command, context: CliContext): void {
  withWatch(withLimit(withFilters(withOutput(noun.command('list')))))
    .description('list sessions, the newest first')
    .action(async (options: OutputOptions & WatchOptions & SessionFilters & { limit?: number }) => {
      const api = apiOf(context, options);
      await watching(context, options, async () => {
        const query = { ...selectionOf(options), order: 'newest' };
        const records = await allPages<SessionItem>(api, '/api/v1/sessions', 'sessions', query, options.limit);
        await writeList(context, sessionView(context.now()), records, options);
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

  withWatch(withTable(withOutput(noun.command('hosts'))))
    .description('what each host of a session reached')
    .argument('<name>')
    .option('--by-layer', 'one line per layer and attempt instead of one per host')
    .action(async (name: string, options: OutputOptions & WatchOptions & { byLayer?: boolean }) => {
      const api = apiOf(context, options);
      const path = `/api/v1/sessions/${segment(name)}/hosts`;
      await watching(context, options, async () => {
        const hosts = await allPages<SessionHost>(api, path, 'hosts');
        if (options.byLayer) await writeList(context, hostResultView, hosts.flatMap(resultsOf), options);
        else
          await writeList(
            context,
            hostSummaryView,
            hosts.map((host) => summariseHost(host)),
            options,
          );
      });
    });
}
