/**
 * How cost grows with the fleet: the same work on fleets of ten times the size each, on one stack. What does not depend on the fleet has
 * slope 0, what doubles with it has slope 1. `npm run bench -- grow`, and `--fleet N` for the greatest fleet.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { countsKeptFor } from '../../domain/fleet/kept-counts.ts';
import { eventually } from '../../test/support/eventually.ts';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { cpuOf } from '../bare-run.ts';
import { expectOk, fleetId } from '../component-fleet.ts';
import { CHASSIS, changedSome, growFleet, RACK, rackOf, scattered } from '../growing-fleet.ts';
import { type KeepAliveClient, keepAliveClient } from '../keep-alive-client.ts';
import { type Measurement, round } from '../measurement.ts';
import { megabytes, memoryMiB } from '../process-memory.ts';
import { median, quantile } from '../statistics.ts';
import { tries } from './components-fleet.ts';
import { measuredSession } from './session-share.ts';

export const GREATEST_FLEET = 1_000_000;
const SMALLEST_FLEET = 10_000;
const PATIENCE_MS = 600_000;
/** Components that a pass of the batcher finds changed. */
const CHANGED = 1_000;
/** Standings beside those of the fleet, each of which one component has: a configuration and the layers that are reached. */
const STANDINGS = 1_000;
/** Fleet counts are shared between all who ask for so long, ms; those of a large fleet are kept for longer. */
const COUNTS_SHARED_MS = 1_000;
const A_MOMENT_MS = 100;

interface Fleet {
  stack: MusterStack;
  client: KeepAliveClient;
  size: number;
}

interface Row {
  what: string;
  unit: string;
  /** The most that it may be for the greatest fleet; null where no bar is set. */
  bar: number | null;
  digits: number;
  measure(fleet: Fleet): Promise<number>;
}

const ROWS: readonly Row[] = [
  {
    what: 'list 1,000 by status, p95',
    unit: 'ms',
    bar: 50,
    digits: 1,
    measure: listBy((turn) => `status=${['configured', 'pending'][turn % 2]}`),
  },
  {
    what: 'list 1,000 by a tag, p95',
    unit: 'ms',
    bar: 50,
    digits: 1,
    measure: listBy((turn) => `tags=rack=${rackOf(turn * RACK)}`),
  },
  { what: 'GET one, p50', unit: 'ms', bar: 2, digits: 2, measure: getOne },
  { what: 'patch of a list of 1,000, p50', unit: 'ms', bar: null, digits: 0, measure: patchList },
  {
    what: 'filter patch of 64 by a tag, p50',
    unit: 'ms',
    bar: 50,
    digits: 0,
    measure: patchBy((turn) => `chassis=c${turn}`, CHASSIS),
  },
  {
    what: 'filter patch of 1,000 by a tag, p50',
    unit: 'ms',
    bar: 200,
    digits: 0,
    measure: patchBy((turn) => `rack=${rackOf(turn * RACK)}`, RACK),
  },
  { what: 'fleet counts, p50', unit: 'ms', bar: null, digits: 1, measure: countFleet },
  { what: 'batcher pass with 1,000 changed, CPU', unit: 's', bar: 0.5, digits: 2, measure: passOver },
  { what: 'list 1,000 by status, 1,000 more standings, p95', unit: 'ms', bar: 50, digits: 1, measure: listScattered },
  { what: 'session of one host, whole inventory', unit: 's', bar: null, digits: 2, measure: sessionOfOne },
  { what: 'memory of API and worker', unit: 'MB', bar: 600, digits: 0, measure: memoryOf },
];

/** Returns a row for each kind of work. `stack` has the configuration `one`, and a component `n0` that is reached by a local connection. */
export async function measureGrowth(stack: MusterStack, greatest = GREATEST_FLEET): Promise<Measurement[]> {
  const sizes = sizesUpTo(greatest);
  const client = keepAliveClient(stack.url);
  const found = ROWS.map((): number[] => []);
  try {
    let made = 0;
    for (const size of sizes) {
      process.stderr.write(`a fleet of ${size.toLocaleString('en')}\n`);
      await growFleet(client, made, size);
      made = size;
      // Statistics of tables that have grown so fast would be gathered a minute later by themselves.
      await stack.sql('analyze', []);
      for (const [index, row] of ROWS.entries()) found[index]?.push(await row.measure({ stack, client, size }));
    }
  } finally {
    client.close();
  }
  return ROWS.map((row, index) => grown(row, sizes, found[index] ?? []));
}

/** Powers of ten from the smallest fleet on, and the greatest. */
function sizesUpTo(greatest: number): number[] {
  const sizes: number[] = [];
  for (let size = SMALLEST_FLEET; size < greatest; size *= 10) sizes.push(size);
  return [...sizes, greatest];
}

function grown({ what, unit, bar, digits }: Row, sizes: readonly number[], figures: number[]): Measurement {
  const [first, last] = [figures[0] ?? Number.NaN, figures.at(-1) ?? Number.NaN];
  const decades = Math.log10((sizes.at(-1) ?? 1) / (sizes[0] ?? 1));
  const slope = decades === 0 ? 0 : Math.log10(last / first) / decades;
  return {
    what,
    bar: bar === null ? '' : `<= ${bar} ${unit}`,
    measured: `${figures.map((figure) => round(figure, digits)).join(' / ')} ${unit}, slope ${round(slope)}`,
    met: bar === null || last <= bar,
    samples: { [unit]: figures.map((figure) => round(figure, 3)), components: [...sizes] },
  };
}

function listBy(filter: (turn: number) => string) {
  return async ({ client }: Fleet): Promise<number> => {
    const samples = await tries(40, async (turn) => {
      const reply = await client.send('GET', `/v3/components?limit=1000&${filter(turn % 10)}`);
      expectOk(reply);
      const found: unknown[] = JSON.parse(reply.text).components;
      if (found.length !== 1_000) throw new Error(`${found.length} components for ${filter(turn % 10)}`);
      return reply.ms;
    });
    return quantile(samples, 0.95);
  };
}

/** Components that are behind, each by what it has reached itself, among the tenth that lacks a layer. */
async function listScattered(fleet: Fleet): Promise<number> {
  const { client } = fleet;
  const { apart, back } = scattered(4 * RACK, STANDINGS);
  expectOk(await client.send('PATCH', '/v3/components', apart));
  try {
    return await listBy(() => 'status=pending')(fleet);
  } finally {
    expectOk(await client.send('PATCH', '/v3/components', back));
  }
}

async function getOne({ client, size }: Fleet): Promise<number> {
  const samples = await tries(500, async (turn) => {
    const reply = await client.send('GET', `/v3/components/${fleetId((turn * 7_919) % size)}`);
    expectOk(reply);
    return reply.ms;
  });
  return median(samples);
}

async function patchList({ client, size }: Fleet): Promise<number> {
  const samples = await tries(10, async (turn) => {
    const body = Array.from({ length: 1_000 }, (_, index) => ({
      id: fleetId((turn * 1_000 + index) % size),
      tags: { checked: `${size}-${turn}` },
    }));
    const reply = await client.send('PATCH', '/v3/components', body);
    expectOk(reply);
    return reply.ms;
  });
  return median(samples);
}

function patchBy(tag: (turn: number) => string, expected: number) {
  return async ({ client, size }: Fleet): Promise<number> => {
    const samples = await tries(9, async (turn) => {
      const body = { patch: { tags: { wave: `${size}-${turn}` } }, filters: { tags: tag(turn) } };
      const reply = await client.send('PATCH', '/v3/components', body);
      expectOk(reply);
      const found = JSON.parse(reply.text).component_ids.length;
      if (found !== expected) throw new Error(`${found} components have ${tag(turn)}`);
      return reply.ms;
    });
    return median(samples);
  };
}

async function countFleet({ client, size }: Fleet): Promise<number> {
  const samples = await tries(5, async () => {
    // Each try counts anew.
    await delay(COUNTS_SHARED_MS + countsKeptFor(size, COUNTS_SHARED_MS) + A_MOMENT_MS);
    const reply = await client.send('GET', '/api/v1/fleet');
    expectOk(reply);
    return reply.ms;
  });
  return median(samples);
}

/** CPU of the worker from the change to the pass that has collected all of it; nothing of it is started. */
async function passOver({ stack, client }: Fleet): Promise<number> {
  const options = (values: object) => client.send('PATCH', '/v3/options', values).then(expectOk);
  const before = JSON.parse((await client.send('GET', '/api/v1/options')).text).max_running_sessions;
  await options({ batcher_disable: true, max_running_sessions: 0, batch_window: 3_600, batch_size: 10_000 });
  const { pending, back } = changedSome(3 * RACK, CHANGED);
  expectOk(await client.send('PATCH', '/v3/components', pending));
  const worker = await stack.pidOf('worker');
  const idle = await cpuOf(worker);
  await options({ batcher_disable: false });
  await eventually(
    'a pass has collected all',
    async () => {
      const [row] = await stack.sql<{ n: string }>('select count(*) as n from batch_members', []);
      return Number(row?.n) >= pending.length;
    },
    PATIENCE_MS,
  );
  const cpu = (await cpuOf(worker)) - idle;
  // The sessions of the next rows are let in again.
  await options({ batcher_disable: true, max_running_sessions: before });
  expectOk(await client.send('PATCH', '/v3/components', back));
  await stack.sql('delete from batch_members', []);
  return cpu;
}

async function sessionOfOne({ stack, size }: Fleet): Promise<number> {
  const { wall } = await measuredSession(stack, 'one', 'n0', `grow-${size}`);
  return wall;
}

async function memoryOf({ stack }: Fleet): Promise<number> {
  const pids = await Promise.all([stack.pidOf('api'), stack.pidOf('worker')]);
  const each = await Promise.all(pids.map(memoryMiB));
  return each.reduce((sum, mib) => sum + megabytes(mib), 0);
}
