import type { Command } from 'commander';
import type { AuditRecord, TimelineEntry } from '../../../domain/audit/schema.ts';
import { segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import type { CliContext } from '../../context.ts';
import { moment } from '../../input/moment.ts';
import { integer } from '../../input/pairs.ts';
import { apiOf, type OutputOptions, type WatchOptions, withOutput, withTable, withWatch } from '../../options.ts';
import { writeList } from '../../output/render.ts';
import { watching } from '../../watch.ts';
import { auditView, timelineView } from './audit-view.ts';

/** Records that are shown unless more are asked for. */
const SHOWN = 100;

interface ListOptions extends OutputOptions, WatchOptions {
  limit: number;
}

interface AuditOptions extends ListOptions {
  actor?: string;
  kind?: string;
  name?: string;
  action?: string;
  since?: string;
  until?: string;
}

const withNewest = (command: Command): Command =>
  withWatch(withTable(withOutput(command))).option('--limit <count>', 'so many of the newest', integer(1), SHOWN);

/** `muster audit ...` */
export function auditCommands(program: Command, context: CliContext): void {
  const noun = program.command('audit').description('who changed what, and when');

  withNewest(noun.command('list'))
    .description('list changes, the newest first')
    .option('--actor <name>', 'only those of this one, such as token/ci or batcher')
    .option('--kind <kind>', 'only those of such records, such as component or configuration')
    .option('--name <name>', 'only those of the record of this name')
    .option('--action <action>', 'only those, such as create, update, delete')
    .option(
      '--since <time>',
      'only those since then: a time (in UTC where it has no zone), or how long ago, such as 2h',
      moment,
    )
    .option('--until <time>', 'only those until then', moment)
    .action(async ({ actor, kind, name, action, since, until, ...options }: AuditOptions) => {
      const api = apiOf(context, options);
      const query = { actor, kind, name, action, since, until };
      await watching(context, options, async () => {
        const records = await allPages<AuditRecord>(api, '/api/v1/audit', 'records', query, options.limit);
        await writeList(context, auditView, records, options);
      });
    });
}

/** `muster component timeline ID` */
export function timelineCommand(noun: Command, context: CliContext): void {
  withNewest(noun.command('timeline'))
    .description('show what happened to a component, the newest first')
    .argument('<id>')
    .action(async (id: string, options: ListOptions) => {
      const api = apiOf(context, options);
      const path = `/api/v1/components/${segment(id)}/timeline`;
      await watching(context, options, async () => {
        const entries = await allPages<TimelineEntry>(api, path, 'entries', {}, options.limit);
        await writeList(context, timelineView, entries, options);
      });
    });
}
