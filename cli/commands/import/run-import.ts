import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { ImportResult } from '../../../domain/import-schema.ts';
import type { ApiClient, ApiRequest } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';
import { apiOf, type OutputOptions, type WriteOptions } from '../../options.ts';
import { writeData } from '../../output/render.ts';
import { type ForeignCfs, ForeignFailure, openForeignCfs } from './foreign-cfs.ts';
import { foreignRecords } from './foreign-records.ts';
import {
  addResults,
  changesNothing,
  emptyReport,
  IMPORT_KINDS,
  type ImportKind,
  type ImportReport,
  isComplete,
  type KindReport,
  renderReport,
  reportedRecords,
} from './import-report.ts';

export interface ImportOptions extends OutputOptions, WriteOptions {
  from: string;
  fromTokenFile?: string;
  fromCa?: string;
  only?: ImportKind[];
  skip?: ImportKind[];
  keepExisting?: boolean;
  /** False for `--no-enable`. */
  enable: boolean;
}

/** Lines about single records on stderr; the whole list is in the report. */
const SAID = 30;
/** Records in one request. */
const BATCH = 500;
/** Pauses before a write to this Muster is tried again, s. */
const WRITE_PAUSES = [0.5, 2, 5];

/** What one run of the import works with. */
interface Work {
  context: CliContext;
  api: ApiClient;
  cfs: ForeignCfs;
  options: ImportOptions;
  /** Sources that were, or would be, made. */
  newSources: string[];
}

/** `muster import`: reads another CFS and takes over what it holds; exit status 1 when something could not be taken. */
export async function runImport(context: CliContext, options: ImportOptions): Promise<void> {
  const kinds = IMPORT_KINDS.filter((kind) => (options.only?.includes(kind) ?? true) && !options.skip?.includes(kind));
  if (kinds.length === 0) throw usage('--only and --skip leave nothing to import');
  const cfs = openForeignCfs({
    from: options.from,
    token: await tokenOf(context, options),
    ca: options.fromCa === undefined ? undefined : await fileText(options.fromCa),
    signal: context.signal,
    tell: (message) => say(context, message),
  });
  const api = apiOf(context, options);
  // Both sides first: what cannot be reached at all, or refuses, ends it here with its own status.
  await api.json({ method: 'GET', path: '/v3/options' });
  const foreignOptions = await cfs.get('/v3/options');
  const work: Work = { context, api, cfs, options, newSources: [] };
  const report: ImportReport = {
    from: cfs.base,
    to: api.url(''),
    dry_run: options.dryRun ?? false,
    kinds: [],
  };
  for (const kind of kinds) {
    const done = emptyReport(kind);
    report.kinds.push(done);
    if (kind === 'options') addResults(done, await importOptions(work, foreignOptions));
    else await importKind(work, kind, done);
  }
  tellRecords(context, report);
  writeData(context, await renderReport(report, options.output));
  if (isComplete(report) && changesNothing(report))
    say(context, 'nothing to change: everything is here as it is there');
  if (!isComplete(report)) context.exit = EXIT.failed;
}

async function importKind(work: Work, kind: Exclude<ImportKind, 'options'>, report: KindReport): Promise<void> {
  const { context, cfs } = work;
  try {
    for await (const { records, unreadable } of foreignRecords(cfs, kind)) {
      addResults(
        report,
        unreadable.map((record) => ({ ...record, outcome: 'failed' })),
      );
      const results = await send(work, kind, records);
      addResults(report, results);
      if (kind === 'sources') {
        work.newSources.push(...results.filter(({ outcome }) => outcome === 'created').map(({ name }) => name));
      }
      if (context.err.terminal) say(context, `${kind}: ${report.equal + report.records.length} read`);
    }
  } catch (error) {
    if (!(error instanceof ForeignFailure)) throw error;
    report.incomplete = error.message;
  }
}

async function importOptions(work: Work, record: unknown): Promise<ImportResult[]> {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    throw new ForeignFailure('not_cfs', `the answer of ${work.cfs.base}/v3/options is no object`, EXIT.failed);
  }
  // What becomes empty first: of two that exclude each other, one may be set only after the other went.
  const entries = Object.entries(record).map(([name, value]) => ({ name, value }));
  const sorted = [...entries.filter(({ value }) => value === ''), ...entries.filter(({ value }) => value !== '')];
  return send(work, 'options', sorted.slice(0, 1_000));
}

/** Hands records to this Muster. Those of a request that is refused go one by one, so that a bad one stands alone. */
async function send(work: Work, kind: ImportKind, records: unknown[]): Promise<ImportResult[]> {
  if (records.length === 0) return [];
  if (records.length > BATCH) {
    return [...(await send(work, kind, records.slice(0, BATCH))), ...(await send(work, kind, records.slice(BATCH)))];
  }
  try {
    return await sendOnce(work, kind, records);
  } catch (error) {
    if (!(error instanceof CliFailure) || error.exit !== EXIT.usage) throw error;
    if (records.length === 1) return [{ name: nameOf(records[0]), outcome: 'failed', detail: error.message }];
  }
  const results: ImportResult[] = [];
  for (const record of records) results.push(...(await send(work, kind, [record])));
  return results;
}

async function sendOnce({ context, api, options, newSources }: Work, kind: ImportKind, records: unknown[]) {
  const request: ApiRequest = {
    method: 'POST',
    path: `/api/v1/import/${kind}`,
    query: {
      dry_run: options.dryRun || undefined,
      keep: options.keepExisting || undefined,
      enable: kind === 'components' && !options.enable ? false : undefined,
    },
    body: kind === 'configurations' && options.dryRun ? { records, sources: newSources } : { records },
  };
  for (let tries = 0; ; tries += 1) {
    try {
      return (await api.json<{ results: ImportResult[] }>(request)).results;
    } catch (error) {
      const passing = error instanceof CliFailure && (error.exit === EXIT.unreachable || error.exit === EXIT.timedOut);
      const pause = WRITE_PAUSES[tries];
      if (!passing || pause === undefined) throw error;
      say(context, `${error.message}; trying again in ${pause} s`);
      await delay(pause * 1000, undefined, { signal: context.signal });
    }
  }
}

function nameOf(record: unknown): string {
  const { id, name }: { id?: unknown; name?: unknown } = typeof record === 'object' && record !== null ? record : {};
  return String(id ?? name ?? 'a record').slice(0, 200);
}

/** What a person should know of single records. */
function tellRecords(context: CliContext, report: ImportReport): void {
  for (const { kind, incomplete } of report.kinds) {
    if (incomplete !== null) say(context, `${kind} could not all be read: ${incomplete}`);
  }
  const worth = reportedRecords(report).filter(
    ({ outcome, detail }) => detail !== undefined || outcome === 'failed' || report.dry_run,
  );
  for (const { kind, name, outcome, detail } of worth.slice(0, SAID)) {
    const would = report.dry_run && (outcome === 'created' || outcome === 'changed') ? 'would be ' : '';
    say(context, `${kind} ${name}: ${would}${outcome}${detail === undefined ? '' : ` (${detail})`}`);
  }
  if (worth.length > SAID) say(context, `... and ${worth.length - SAID} more; -o wide and -o json show all`);
}

async function tokenOf(context: CliContext, { fromTokenFile }: ImportOptions): Promise<string | undefined> {
  const token = fromTokenFile === undefined ? context.importToken : (await fileText(fromTokenFile)).trim();
  if (token === '') throw usage(`${fromTokenFile} is empty`);
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) throw usage('the token has characters that no token has');
  return token;
}

async function fileText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw usage(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  }
}
