import type { ApiClient } from '../../client/api-client.ts';
import { unknownConfigurations } from '../../client/unknown-configurations.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, usage } from '../../failure.ts';
import { confirmMany } from '../../input/confirm.ts';
import type { Document } from '../../input/documents.ts';
import { apiOf, type WriteOptions } from '../../options.ts';
import { counted } from '../../output/names.ts';
import { writeData } from '../../output/render.ts';
import { effectOf, previewRequests } from '../../preview.ts';
import { RULES } from './kinds.ts';
import { sayMissingSecrets } from './missing-secrets.ts';
import { type Plan, type PlannedChange, type PlanOptions, planChanges, subjectOf } from './plan-changes.ts';
import { readDirectory } from './read-directory.ts';
import { refusedChange, showDifferences } from './show-differences.ts';

export interface ApplyDirectoryOptions extends WriteOptions, PlanOptions {
  file: string;
  yes?: boolean;
}

/**
 * Makes the records as the directory says them, one request after the other; all files are read and compared before the first. The same again
 * makes what is left. Throws what the server refuses a change with, with its file.
 */
export async function applyDirectory(context: CliContext, options: ApplyDirectoryOptions): Promise<void> {
  if (options.pruneComponents && !options.prune) throw usage('--prune-components needs --prune');
  const api = apiOf(context, options);
  const directory = await readDirectory(context, options.file);
  const plan = await planChanges(api, directory, options);
  if (options.dryRunRequest) {
    const requests = plan.changes.map(({ request }) => request);
    return previewRequests(context, api, requests, options);
  }
  await sayMissingSecrets(context, api, directory.secrets);
  if (options.dryRun) {
    await showDifferences(context, api, plan, {});
    return say(context, 'dry run: nothing was changed');
  }
  await confirmDeletions(context, plan, options.yes);
  for (const warning of plan.warnings) say(context, warning.replace(/^(warning: )?/, 'warning: '));
  await makeChanges(context, api, plan);
}

/** Asks before more than one record is deleted. */
async function confirmDeletions(context: CliContext, { changes }: Plan, yes: boolean | undefined): Promise<void> {
  const deleted = changes.filter(({ action }) => action === 'deleted');
  if (deleted.length < 2) return;
  const kinds = [...new Set(deleted.map(({ kind }) => kind))];
  const counts = kinds.map((kind) => counted(deleted.filter((one) => one.kind === kind).length, RULES[kind].noun));
  await confirmMany(context, `Delete ${counts.join(', ')}, which the directory lacks?`, yes);
}

async function makeChanges(context: CliContext, api: ApiClient, plan: Plan): Promise<void> {
  const counts = { created: 0, changed: 0, deleted: 0 };
  let unchanged = plan.unchanged;
  const done = (): string => {
    const parts = Object.entries(counts).flatMap(([action, count]) => (count > 0 ? [`${count} ${action}`] : []));
    return [...(parts.length > 0 ? parts : ['0 changed']), `${unchanged} as in the directory`].join(', ');
  };
  for (const [index, change] of plan.changes.entries()) {
    if (change.unsure && !(await changesAnything(api, change))) {
      unchanged += change.names.length;
      continue;
    }
    try {
      tell(context, change, await api.json<Document | undefined>(change.request));
    } catch (error) {
      const left = plan.changes.slice(index).reduce((sum, { names }) => sum + names.length, 0);
      if (index > 0) say(context, `${done()}, ${left} left; the same again makes the rest`);
      throw error instanceof CliFailure ? refusedChange(change, error) : error;
    }
    counts[change.action] += change.names.length;
  }
  say(context, done());
  const records = plan.changes.flatMap(({ kind, request }) => (kind === 'components' ? (request.body ?? []) : []));
  const warning = await unknownConfigurations(api, records as Document[]);
  if (warning !== undefined) say(context, `warning: ${warning}`);
}

/** Whether the server would change anything; also where it would refuse, or has no dry run: then the request itself says more. */
async function changesAnything(api: ApiClient, { request }: PlannedChange): Promise<boolean> {
  try {
    return (await effectOf(api, request)).changed > 0;
  } catch (error) {
    if (error instanceof CliFailure) return true;
    throw error;
  }
}

/** Says what was done to each record. The key of a new webhook is shown this once. */
function tell(context: CliContext, change: PlannedChange, answer: Document | undefined): void {
  const { kind, action, names } = change;
  const subjects = names.map((name) => `${action} ${subjectOf({ kind, names: [name] })}\n`);
  writeData(context, subjects.join(''));
  if (kind === 'webhooks' && action === 'created' && answer?.secret !== undefined) {
    writeData(context, `key of the signatures of webhook ${names[0]}, not shown again: ${String(answer.secret)}\n`);
  }
}
