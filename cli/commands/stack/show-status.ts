import { isSameServer } from '../../../deploy/stack/own-stack.ts';
import type { StackState } from '../../../deploy/stack/stack-state.ts';
import type { Batcher } from '../../../domain/batches/batch-schema.ts';
import type { HardwareSyncView } from '../../../domain/components/hardware-sync-schema.ts';
import type { StopState } from '../../../domain/fleet/stop-schema.ts';
import type { ApiClient } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { apiOf, type OutputOptions } from '../../options.ts';
import { cell, type View } from '../../output/columns.ts';
import { isValueFormat } from '../../output/formats.ts';
import { renderList, renderValue, roomOf, writeData } from '../../output/render.ts';
import { fieldList } from '../../output/table.ts';
import { batcherLine } from '../batches/batch-view.ts';
import { type OperatorPart, readOperatorParts } from './operator-parts.ts';

interface Part {
  ok: boolean;
  reason: string | null;
}

/** GET /api/v1/status. */
export interface StatusAnswer {
  versions: { muster: string; cfs: string };
  database: Part;
  engine: Part;
  setup?: Part;
  workers?: (Part & { count: number }) | null;
  counts: {
    sessions: { pending: number; running: number; complete: number };
    queue: number;
    active_runs: number;
  } | null;
  /** Absent where an older release answers. */
  plans?: { running: number; paused: number; open: { id: string; name: string }[] } | null;
  operators?: { live: number; reconciles_open: number; due: number } | null;
  batcher?: Batcher | null;
  stop?: StopState | null;
  hardware_sync?: HardwareSyncView | null;
  notices?: string[];
  links: { ui?: string; docs: string; openapi: string; temporal_ui: string | null };
}

interface Report {
  url: string;
  /** What the API says, or null with the reason why it says nothing. */
  api: StatusAnswer | null;
  failure: CliFailure | null;
  operators: OperatorPart[];
  /** What the supervisor of this machine's stack says; null when there is none or another API was named. */
  stack: StackState | null;
}

interface Row {
  part: string;
  state: string;
  address: string;
  version: string;
  reason: string;
  restarts: string;
}

const rowView: View<Row> = {
  noun: 'parts',
  name: (row) => row.part,
  columns: [
    { title: 'PART', value: (row) => row.part },
    { title: 'STATE', value: (row) => row.state },
    { title: 'ADDRESS', value: (row) => row.address },
    { title: 'VERSION', value: (row) => row.version },
    { title: 'RESTARTS', value: (row) => row.restarts, wide: true },
    { title: 'REASON', value: (row) => row.reason },
  ],
};

/** Writes what runs where and why something does not; exit status 1 when a part is ill, 7 when the API does not answer. */
export async function showStatus(context: CliContext, options: OutputOptions): Promise<void> {
  const report = await readReport(context, options);
  const rows = rowsOf(report);
  const { output } = options;
  if (isValueFormat(output)) {
    const { url, api, failure, stack } = report;
    writeData(context, await renderValue({ url, api, error: failure?.message ?? null, stack }, output));
  } else {
    writeData(context, await renderList(rowView, rows, output, true, roomOf(context)));
    if (output === 'table' || output === 'wide') writeData(context, summaryOf(report));
  }
  for (const notice of report.api?.notices ?? []) say(context, notice);
  const { failure } = report;
  if (failure?.fix) say(context, failure.fix);
  context.exit = failure ? failure.exit : isWell(report) ? EXIT.done : EXIT.failed;
}

/** Says what an administrator has to decide; a stack that does not tell, or not us, is no failure of the command that started it. */
export async function tellNotices(context: CliContext, url: string): Promise<void> {
  try {
    const { notices } = await apiOf(context, { url }).json<StatusAnswer>({ method: 'GET', path: '/api/v1/status' });
    for (const notice of notices ?? []) say(context, notice);
  } catch (error) {
    if (!(error instanceof CliFailure) || error.exit === EXIT.interrupted) throw error;
  }
}

function isWell({ api, stack }: Report): boolean {
  if (api === null || stack?.state === 'degraded' || stack?.state === 'failed') return false;
  return [api.database, api.engine, api.setup, api.workers, api.hardware_sync].every((part) => part?.ok !== false);
}

async function readReport(context: CliContext, options: OutputOptions): Promise<Report> {
  const api = apiOf(context, options);
  const url = api.url('');
  const own = options.url === undefined ? await context.stack?.state() : undefined;
  const report: Report = {
    url,
    api: null,
    failure: null,
    operators: [],
    stack: own && isSameServer(own.links.api, url) ? own : null,
  };
  if (report.stack !== null && !hasApi(report.stack)) {
    report.failure = await strangerAt(api, report.stack);
    return report;
  }
  try {
    report.api = await api.json<StatusAnswer>({ method: 'GET', path: '/api/v1/status' });
    if (report.api.operators) report.operators = await readOperatorParts(api);
  } catch (error) {
    if (!(error instanceof CliFailure) || error.exit === EXIT.interrupted) throw error;
    report.failure = error;
  }
  return report;
}

/** Whether the stack has an API of its own at all. */
const hasApi = ({ state }: StackState): boolean => state !== 'failed' && state !== 'stopped';

/** The stack of this data directory does not run: what answers at its address is another one, whose figures are none of it. */
async function strangerAt(api: ApiClient, { state }: StackState): Promise<CliFailure> {
  const url = api.url('');
  const answers = await api.json({ method: 'GET', path: '/healthz' }).then(
    () => true,
    (error: unknown) => error instanceof CliFailure && error.code !== 'unreachable',
  );
  const what = state === 'failed' ? 'the stack did not start' : 'no stack runs here';
  const exit = state === 'failed' ? EXIT.failed : EXIT.unreachable;
  if (!answers) return new CliFailure('unreachable', what, exit);
  const fix = `another stack answers at ${url}: \`./muster status --url ${url}\` shows it`;
  return new CliFailure('unreachable', what, exit, fix);
}

function rowsOf({ url, api, failure, operators, stack }: Report): Row[] {
  const rows: Row[] = Object.entries(stack?.components ?? {}).map(([part, component]) => ({
    part,
    state: component.state,
    address: cell(component.address),
    version: cell(component.version),
    restarts: String(component.restarts),
    reason: cell(component.reason ?? component.last_exit),
  }));
  if (stack === null) {
    rows.push({
      part: 'api',
      state: api ? 'answers' : 'unreachable',
      address: url,
      version: cell(api?.versions.muster),
      restarts: '',
      reason: cell(failure?.message),
    });
  }
  const seen = (part: string, { ok, reason }: Part): Row => ({
    part,
    state: ok ? 'ok' : 'not available',
    address: '',
    version: '',
    restarts: '',
    reason: cell(reason),
  });
  if (api) rows.push(seen('database for the api', api.database), seen('engine for the api', api.engine));
  if (api?.setup && !api.setup.ok) rows.push(seen('set-up of the api', api.setup));
  if (api?.workers && !api.workers.ok) rows.push(seen('workers', api.workers));
  if (api?.hardware_sync) rows.push(seen('hardware sync', api.hardware_sync));
  for (const { name, version, state, reason } of operators)
    rows.push({ part: `operator ${name}`, state, address: '', version, restarts: '', reason });
  return rows;
}

function summaryOf({ url, api, failure, stack }: Report): string {
  const sessions = api?.counts?.sessions;
  const text = fieldList([
    ['stack', stack ? [stack.state, stack.reason].filter(Boolean).join(': ') : ''],
    ['api', failure ? failure.message : url],
    [
      'sessions',
      sessions ? `${sessions.pending} pending, ${sessions.running} running, ${sessions.complete} complete` : '',
    ],
    ['workers', api?.workers ? `${api.workers.count} at work` : ''],
    ['everything', stopText(api?.stop)],
    ['batcher', api?.batcher ? batcherLine(api.batcher) : ''],
    [
      'hardware sync',
      api?.hardware_sync ? `${api.hardware_sync.nodes} nodes, ${api.hardware_sync.created} components made` : '',
    ],
    ['plans', api?.plans ? `${api.plans.running} running, ${api.plans.paused} paused` : ''],
    ['operators', api?.operators ? operatorText(api.operators) : ''],
    ['running playbooks', cell(api?.counts?.active_runs)],
    ['warm Ansible', warmText(stack?.warm_ansible)],
    ['ui', cell(api?.links.ui)],
    ['docs', cell(api?.links.docs)],
    ['Temporal', cell(api?.links.temporal_ui)],
  ]);
  return `\n${text}`;
}

/** What operators do; nothing where there are none. */
function operatorText({ live, reconciles_open: open, due }: NonNullable<StatusAnswer['operators']>): string {
  return live + open + due === 0 ? '' : `${live} at work, ${open} reconciles open, ${due} resources due`;
}

/** How many processes have imported Ansible, and why an Ansible cannot be kept; nothing where playbooks are started without. */
function warmText(processes: StackState['warm_ansible']): string {
  const count = (state: string) => processes?.filter((process) => process.state === state).length ?? 0;
  const counts = (['ready', 'loading'] as const).filter((state) => count(state) > 0);
  const refused = processes?.find((process) => process.state === 'refused');
  const words = counts.map((state) => `${count(state)} ${state}`);
  return [...words, ...(refused === undefined ? [] : [`refused: ${refused.why}`])].join(', ');
}

/** That everything is stopped, since when and by whom; nothing while it goes on. */
function stopText(stop: StopState | null | undefined): string {
  if (!stop?.stopped) return '';
  const who = stop.actor === null ? '' : ` by ${stop.actor}`;
  const broken = stop.complete ? '' : '; stopping was broken off, the same command completes it';
  return `is stopped since ${stop.since}${who}: ${stop.reason}${broken}; \`./muster go\` lets it go on`;
}
