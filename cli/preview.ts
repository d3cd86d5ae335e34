/** `--dry-run`: what requests would change, by the word of the server, or only the requests. */
import type { DryRunAnswer, DryRunBecomes } from '../domain/service/dry-run-schema.ts';
import type { ApiClient, ApiRequest } from './client/api-client.ts';
import { type CliContext, say } from './context.ts';
import { CliFailure, EXIT } from './failure.ts';
import { changeText } from './output/change-text.ts';
import { type Format, isValueFormat } from './output/formats.ts';
import { counted, someOf } from './output/names.ts';
import { renderValue, writeData } from './output/render.ts';

export interface PreviewOptions {
  /** Show the requests and send nothing. */
  dryRunRequest?: boolean;
  output?: Format;
}

/** Members of a body that are not shown. */
const HIDDEN = new Set(['password', 'value', 'token']);

/**
 * Shows what requests would change, each by itself: the server makes it and takes it back. With `--dry-run=request` shows method, URL
 * and body. Throws what the server refuses them with, and `rehearsal_unsupported` for a server without dry run.
 */
export async function previewRequests(
  context: CliContext,
  api: ApiClient,
  requests: readonly ApiRequest[],
  options: PreviewOptions,
): Promise<void> {
  if (options.dryRunRequest) return showRequests(context, api, requests);
  const { output } = options;
  for (const request of requests) {
    const effect = await effectOf(api, request);
    if (output !== undefined && isValueFormat(output)) writeData(context, await renderValue(effect, output));
    else writeData(context, effectText(effect));
    for (const warning of effect.warnings) say(context, `warning: ${warning}`);
  }
  say(context, 'dry run: nothing was changed');
}

/**
 * What the server says that a request would change. Throws what its route refuses it with, and `rehearsal_unsupported` for a server without
 * dry run.
 */
export async function effectOf(api: ApiClient, { method, path, query, body }: ApiRequest): Promise<DryRunAnswer> {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null);
  const dryRun = { method, path, ...(given.length > 0 ? { query: Object.fromEntries(given) } : {}), body };
  try {
    return await api.json<DryRunAnswer>({ method: 'POST', path: '/api/v1/dry-run', body: dryRun });
  } catch (error) {
    if (!(error instanceof CliFailure) || error.code !== 'not_found') throw error;
    const fix = '`--dry-run=request` shows the request and sends nothing';
    throw new CliFailure('rehearsal_unsupported', 'this server has no dry run; nothing was sent', EXIT.usage, fix);
  }
}

/** The effect in lines: the counts, the first changes, what becomes of components, the hosts of a session. */
export function effectText({ changed, unchanged, changes, becomes, hosts }: DryRunAnswer): string {
  const lines = [`${counted(changed, 'record')} would be changed${unchanged > 0 ? `, ${unchanged} as before` : ''}`];
  for (const { action, kind, name, ...change } of changes) {
    lines.push(`  ${action} ${kind} ${name} ${changeText(change)}`.trimEnd());
  }
  if (changed > changes.length) lines.push(`  and ${changed - changes.length} more`);
  lines.push(...becomes.map(becomesText));
  if (hosts !== null) {
    lines.push(hosts.unknown === null ? `hosts: ${someOf(hosts.names, ', ', hosts.count)}` : `hosts: ${hosts.unknown}`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** What becomes of components, in a line. */
export function becomesText({ from, to, count, ids }: DryRunBecomes): string {
  const words = to === null ? `${from}, would be gone` : from === null ? `new, ${to}` : `${from} -> ${to}`;
  return `${counted(count, 'component')} ${words}: ${someOf(ids, ', ', count)}`;
}

function showRequests(context: CliContext, api: ApiClient, requests: readonly ApiRequest[]): void {
  const hide = (name: string, value: unknown): unknown =>
    HIDDEN.has(name) && typeof value === 'string' ? '********' : value;
  const texts = requests.map(({ method, path, query, body }) => {
    const shown = body === undefined ? '' : `${JSON.stringify(body, hide, 2)}\n`;
    return `${method} ${api.url(path, query)}\n${shown}`;
  });
  writeData(context, texts.join(''));
}
