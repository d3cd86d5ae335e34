/**
 * Two hours of sessions whose runs do nothing, 20 a minute, with five watchers: none is lost, none runs twice, no process grows, what is
 * older than `session_ttl` is gone, and the growth of the database is told by table.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { stackStatus } from '../../deploy/stack/background.ts';
import { type EventReader, openEvents } from '../../test/sessions/streams/event-reader.ts';
import { type MusterStack, startMusterStack } from '../../test/support/stack/muster-stack.ts';
import { type Measurement, round } from '../measurement.ts';
import { megabytes, memoryMiB, memoryOfAllMiB } from '../process-memory.ts';
import { median } from '../statistics.ts';

export const SOAK_MINUTES = 120;
const PER_MINUTE = 20;
const WATCHERS = 5;
const TOPICS = 'fleet,attention,components,sessions,batches';
/** Caches fill in the first part; what grows after it is a leak. */
const WARM_PART = 0.25;
/** Of API and worker together, and of each other process. */
const GROWTH_MB = 40;
const LOOKS = 100;
/** How long after its time a session may still be there, minutes. */
const CLEANED_WITHIN = 5;
/** How many of the tables that grew most are shown. */
const TABLES = 5;
const MS_OF_MINUTE = 60_000;

type Part = 'api_and_worker' | 'temporal' | 'postgres' | 'supervisor' | 'database';
type Looks = Record<Part, number[]>;

/** On a stack of its own, with `true` in place of ansible-playbook. */
export async function measureSoak(minutes: number): Promise<Measurement> {
  const stack = await startMusterStack({ MUSTER_PLAYBOOK_COMMAND: '/bin/true' }, 'own');
  const watchers: EventReader[] = [];
  try {
    // A quarter of the time, so that most of the sessions go while others come.
    const ttl = Math.max(1, Math.floor(minutes * WARM_PART));
    const { status } = await stack.call('PATCH', '/v3/options', { session_ttl: `${ttl}m`, batcher_disable: true });
    if (status !== 200) throw new Error(`PATCH options: ${status}`);
    const repository = await stack.repository('soak');
    await repository.commit({ 'site.yml': '- hosts: all\n' });
    await stack.configure('soak', repository.url, ['site.yml'], ['n0', 'n1']);
    for (let index = 0; index < WATCHERS; index += 1) {
      watchers.push(await openEvents(`${stack.url}/api/v1/stream?topics=${TOPICS}`));
    }
    const before = await tablesOf(stack);
    const looks: Looks = { api_and_worker: [], temporal: [], postgres: [], supervisor: [], database: [] };
    const stopped = new AbortController();
    const looking = keepLooking(stack, looks, minutes, stopped.signal);
    const made = await makeSessions(stack, minutes).finally(() => stopped.abort());
    await looking;
    const late = await lateSessions(stack, ttl);
    const heard = Math.min(...watchers.map(({ frames }) => frames.length));
    return told(minutes, looks, { ...made, late, heard, tables: grownTables(before, await tablesOf(stack)) });
  } finally {
    for (const watcher of watchers) watcher.close();
    await stack.remove();
  }
}

interface Found {
  count: number;
  lost: number;
  twice: number;
  /** Complete sessions that should be gone. */
  late: number;
  /** Messages that each watcher had at least. */
  heard: number;
  tables: [string, number, number][];
}

function told(minutes: number, looks: Looks, { count, lost, twice, late, heard, tables }: Found): Measurement {
  const grown = Object.fromEntries(Object.entries(looks).map(([part, values]) => [part, growthOf(values)]));
  const { database, ...processes } = grown;
  const words = Object.entries(processes).map(
    ([part, growth]) => `${part.replaceAll('_', ' ')} ${change(growth, 'MB')}`,
  );
  const growers = tables.map(([name, from, to]) => `${name} ${change({ from, to }, 'MB')}`);
  const isFlat = Object.values(processes).every(({ from, to }) => to - from <= GROWTH_MB);
  return {
    what: `${PER_MINUTE} no-op sessions a minute for ${minutes} min, ${WATCHERS} watchers`,
    bar: `none lost, none twice, no process + ${GROWTH_MB} MB, none older than session_ttl`,
    measured:
      `${count} sessions, ${lost} lost, ${twice} twice, ${late} too old, watchers heard ${heard}; ${words.join(', ')}; ` +
      `database ${change(database ?? { from: Number.NaN, to: Number.NaN }, 'MB')}: ${growers.join(', ')}`,
    met: count > 0 && lost === 0 && twice === 0 && late === 0 && heard > 0 && isFlat,
    samples: {
      ...Object.fromEntries(
        Object.entries(looks).map(([part, values]) => [`${part}_mb`, values.map((value) => round(value, 1))]),
      ),
      ...Object.fromEntries(tables.map(([name, from, to]) => [`table_${name}_mb`, [round(from, 2), round(to, 2)]])),
    },
  };
}

const change = ({ from, to }: { from: number; to: number }, unit: string): string =>
  `${round(from, 0)} ${unit} ${to < from ? '-' : '+'} ${round(Math.abs(to - from), 1)} ${unit}`;

/** After the caches have filled and at the end, each by the middle of several looks. */
function growthOf(values: readonly number[]): { from: number; to: number } {
  const few = Math.max(1, Math.floor(values.length / 10));
  const start = Math.floor(values.length * WARM_PART);
  return { from: median(values.slice(start, start + few)), to: median(values.slice(-few)) };
}

/** Makes a session every three seconds, whether those before have ended or not, and waits for all. */
async function makeSessions(stack: MusterStack, minutes: number): Promise<Pick<Found, 'count' | 'lost' | 'twice'>> {
  const count = Math.round(minutes * PER_MINUTE);
  const began = performance.now();
  const ends: Promise<{ succeeded: boolean; runs: number }>[] = [];
  for (let index = 0; index < count; index += 1) {
    const at = began + (index * MS_OF_MINUTE) / PER_MINUTE;
    await delay(Math.max(0, at - performance.now()));
    const end = runToEnd(stack, `soak-${index}`);
    end.catch(() => undefined);
    ends.push(end);
  }
  const all = await Promise.all(ends);
  return {
    count,
    lost: all.filter(({ succeeded }) => !succeeded).length,
    twice: all.filter(({ runs }) => runs > 1).length,
  };
}

async function runToEnd(stack: MusterStack, name: string): Promise<{ succeeded: boolean; runs: number }> {
  await stack.create(name, 'soak', { ansible_limit: 'n0,n1' });
  const session = await stack.untilComplete(name, 300_000);
  const [row] = await stack.sql<{ runs: string }>('select count(*) as runs from runs where session_id = $1', [
    session.id,
  ]);
  return { succeeded: session.status.session.succeeded === 'true', runs: Number(row?.runs) };
}

/** Looks a hundred times, and once more at the end. */
async function keepLooking(stack: MusterStack, looks: Looks, minutes: number, stopped: AbortSignal): Promise<void> {
  for (;;) {
    const isLast = stopped.aborted;
    const supervisor = (await stackStatus(stack.dataDir))?.supervisor.pid ?? 0;
    const [api, worker] = [await memoryMiB(await stack.pidOf('api')), await memoryMiB(await stack.pidOf('worker'))];
    looks.api_and_worker.push(megabytes(api + worker));
    looks.temporal.push(megabytes(await memoryMiB(await stack.pidOf('temporal'))));
    looks.postgres.push(megabytes(await memoryOfAllMiB(await stack.pidOf('postgres'))));
    looks.supervisor.push(megabytes(await memoryMiB(supervisor)));
    const [row] = await stack.sql<{ mb: number }>('select pg_database_size(current_database()) / 1e6::float8 as mb');
    looks.database.push(row?.mb ?? Number.NaN);
    if (isLast) return;
    await delay((minutes * MS_OF_MINUTE) / LOOKS, undefined, { signal: stopped }).catch(() => undefined);
  }
}

/** Complete sessions that the clean-up should have deleted by now. */
async function lateSessions(stack: MusterStack, ttl: number): Promise<number> {
  const [row] = await stack.sql<{ late: string }>(
    `select count(*) as late from sessions where name like 'soak-%' and completion_time < now() - $1 * interval '1 minute'`,
    [ttl + CLEANED_WITHIN],
  );
  return Number(row?.late);
}

/** Size of each table with its indexes, MB. */
async function tablesOf(stack: MusterStack): Promise<Map<string, number>> {
  const rows = await stack.sql<{ name: string; mb: number }>(
    `select relname as name, pg_total_relation_size(oid) / 1e6::float8 as mb from pg_class
     where relkind = 'r' and relnamespace = current_schema()::regnamespace`,
  );
  return new Map(rows.map(({ name, mb }) => [name, mb]));
}

/** The tables that grew most, with their sizes before and after. */
function grownTables(before: Map<string, number>, after: Map<string, number>): Found['tables'] {
  const all = [...after].map(([name, to]): [string, number, number] => [name, before.get(name) ?? 0, to]);
  return all.sort((a, b) => b[2] - b[1] - (a[2] - a[1])).slice(0, TABLES);
}
