import type { SessionsCancelled, SessionsDeleted, SessionsRetried } from '../../../domain/sessions/many-schema.ts';
import type { RetryHosts, SessionStatus } from '../../../domain/sessions/schema.ts';
import type { ApiClient, ApiRequest } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { confirm, confirmMany } from '../../input/confirm.ts';
import { apiOf, perform, type WriteOptions } from '../../options.ts';
import { counted, someOf } from '../../output/names.ts';
import { type ChosenSessions, countChosen } from './session-filters.ts';

export interface ManyOptions extends WriteOptions {
  yes?: boolean;
}

/** Cancels sessions with one request; those that wait for their turn end at once. */
export async function cancelMany(context: CliContext, chosen: ChosenSessions, options: ManyOptions): Promise<void> {
  const api = apiOf(context, options);
  await asked(context, api, chosen, options, { verb: 'cancel', statuses: ['pending', 'running'] });
  const answer = await send<SessionsCancelled>(context, api, 'cancel', bodyOfCancel(chosen), options);
  if (answer === undefined) return;
  const { cancelled, ended, complete, missing } = answer;
  const waited = ended > 0 ? `; ${ended} of them waited and have ended` : '';
  say(context, `${counted(cancelled, 'session')} cancelled${waited}`);
  if (complete.length > 0) say(context, `complete already: ${someOf(complete)}`);
  requireSessions(missing);
}

/** Releases before filters know status and tags beside each other. */
function bodyOfCancel(chosen: ChosenSessions): object {
  if ('names' in chosen) return chosen;
  const { status, tags, ...filter } = chosen.filter;
  return {
    ...(status === undefined ? {} : { status: [status] }),
    ...(tags === undefined ? {} : { tags }),
    ...(Object.keys(filter).length > 0 ? { filter } : {}),
  };
}

/** Runs sessions again with one request, each for itself. */
export async function retryMany(
  context: CliContext,
  chosen: ChosenSessions,
  options: ManyOptions & { hosts?: RetryHosts },
): Promise<void> {
  const api = apiOf(context, options);
  await asked(context, api, chosen, options, { verb: 'retry', statuses: ['complete'] });
  const body = { ...chosen, ...(options.hosts === undefined ? {} : { hosts: options.hosts }) };
  const answer = await send<SessionsRetried>(context, api, 'retry', body, options);
  if (answer === undefined) return;
  const { retried, refused, missing } = answer;
  context.out.write(retried.map(({ session }) => `${session}\n`).join(''));
  say(context, `${counted(retried.length, 'session')} ${retried.length === 1 ? 'runs' : 'run'} again`);
  for (const { name, code, message } of refused) say(context, `not again: ${name}: ${code}: ${message}`);
  requireSessions(missing);
  if (refused.length > 0) context.exit = EXIT.failed;
}

/** Deletes sessions with one request. */
export async function deleteMany(context: CliContext, chosen: ChosenSessions, options: ManyOptions): Promise<void> {
  const api = apiOf(context, options);
  await asked(context, api, chosen, options, { verb: 'delete', statuses: ['complete'] });
  const answer = await send<SessionsDeleted>(context, api, 'delete', chosen, options);
  if (answer === undefined) return;
  const { deleted, cancelled, names, missing } = answer;
  if ('filter' in chosen) context.out.write(names.map((name) => `${name}\n`).join(''));
  const running = cancelled > 0 ? `; ${cancelled} of them had not ended` : '';
  say(context, `${counted(deleted, 'session')} deleted${running}`);
  requireSessions(missing);
}

/** Shows how many sessions are meant, and asks before a write to more than one. */
async function asked(
  context: CliContext,
  api: ApiClient,
  chosen: ChosenSessions,
  { dryRun, yes }: ManyOptions,
  { verb, statuses }: { verb: 'cancel' | 'retry' | 'delete'; statuses: readonly SessionStatus[] },
): Promise<void> {
  if (yes && !dryRun) return;
  const count = await countChosen(api, chosen, statuses);
  const done = { cancel: 'cancelled', retry: 'retried', delete: 'deleted' }[verb];
  if (dryRun) return say(context, `${counted(count, 'session')} would be ${done}`);
  const question = `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${counted(count, 'session')}?`;
  if (count > 1) await confirmMany(context, question, yes);
  else if (count === 1 && verb === 'delete') await confirm(context, question);
}

function send<T>(context: CliContext, api: ApiClient, verb: string, body: object, options: ManyOptions) {
  const { reason } = options;
  const whole = { ...body, ...(reason === undefined ? {} : { reason }) };
  const request: ApiRequest = { method: 'POST', path: `/api/v1/sessions/${verb}`, body: whole };
  return perform<T>(context, api, request, options);
}

/** Ends a command that has done the rest: names were given that no session has. */
function requireSessions(missing: readonly string[]): void {
  if (missing.length === 0) return;
  throw new CliFailure('session_not_found', `there is no session ${someOf(missing, ', no session ')}`, EXIT.notFound);
}
