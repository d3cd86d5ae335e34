/** The batcher: a pass over a great backlog, how soon a change is a session, and a fleet from pending to configured. */
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../test/support/eventually.ts';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { cpuOf } from '../bare-run.ts';
import { type Measurement, round } from '../measurement.ts';
import { quantile } from '../statistics.ts';

const BACKLOG = 100_000;
const AT_ONCE = 10_000;
const FLEET = 1_000;
const CHANGES = 10;
const WINDOW_SECONDS = 2;
const PATIENCE_MS = 180_000;
/** Looking is work too, so it is done seldom. */
const LOOK_MS = 250;

/**
 * One pass that collects 100,000 pending components and makes the first 50 sessions, with their starts, and what the next ones
 * over that backlog cost; CPU of the whole worker.
 */
export async function measurePass(stack: MusterStack, configuration: string): Promise<Measurement> {
  // Nothing is let in: the pass alone is measured, not the sessions that it makes.
  await setOptions(stack, { batcher_disable: true, max_running_sessions: 0, batch_window: 3_600 });
  for (let start = 0; start < BACKLOG; start += AT_ONCE) await putPending(stack, 'p', start, AT_ONCE, configuration);
  const worker = await stack.pidOf('worker');
  const before = await memoryMiB(worker);
  const peak = watchMemory(worker);
  const cpu = await cpuOf(worker);
  const enabled = new Date();
  await setOptions(stack, { batcher_disable: false });
  const collected = `select count(*) as n from batch_members, batcher_state where last_pass_at >= $1`;
  await eventually(
    'a pass has collected all',
    async () => (await countOf(stack, collected, [enabled])) >= BACKLOG,
    PATIENCE_MS,
  );
  const collecting = (await cpuOf(worker)) - cpu;
  const [first] = await passTimes(stack);
  const idle = await cpuOf(worker);
  await passesOver(stack, 3);
  const later = ((await cpuOf(worker)) - idle) / 3;
  const growth = (await peak.stop()) - before;
  return {
    what: 'batcher: a pass over 100,000 pending components',
    bar: '2 s CPU of the worker, memory flat',
    measured: `${round(collecting)} s CPU, later passes ${round(later)} s; memory + ${round(growth, 0)} MB at most`,
    met: collecting <= 2,
    samples: { cpu: [round(collecting)], later: [round(later)], memory: [round(growth, 1)], wall_ms: [first ?? 0] },
  };
}

/** From the answer to the PATCH that makes a component pending to its session's record, less the batch window. */
export async function measureWindow(stack: MusterStack, configuration: string): Promise<Measurement> {
  await setOptions(stack, { batcher_disable: false, max_running_sessions: 50, batch_window: WINDOW_SECONDS });
  const late: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    const id = `w${change}`;
    await put(stack, [{ id, enabled: true, tags: { ansible_connection: 'local' } }]);
    await ok(stack.call('PATCH', `/v3/components/${id}`, { desired_config: configuration }));
    const changed = Date.now();
    const [session] = await eventually(
      `a session for ${id}`,
      async () => {
        const rows = await stack.sql<{ at: Date }>(
          `select started_at as at from runs join sessions on sessions.id = runs.session_id
           where ansible_limit = $1 and started_at is not null`,
          [id],
        );
        return rows.length > 0 ? rows : null;
      },
      PATIENCE_MS,
    );
    late.push(((session?.at.getTime() ?? Number.NaN) - changed) / 1_000 - WINDOW_SECONDS);
  }
  const [p50, worst] = [quantile(late, 0.5), Math.max(...late)];
  return {
    what: 'change to start of the playbook of its automatic session',
    bar: 'batch window + 2 s',
    measured: `batch window + ${round(p50)} s (p50), + ${round(worst)} s at most`,
    met: worst <= 2,
    samples: { seconds_after_window: late.map((value) => round(value, 3)) },
  };
}

/** 1,000 components from pending to configured by a runner that does nothing, in batches of 25. */
export async function measureDrain(stack: MusterStack, configuration: string): Promise<Measurement> {
  await setOptions(stack, { batcher_disable: false, max_running_sessions: 50, batch_window: 1, batch_size: 25 });
  const started = performance.now();
  await putPending(stack, 'd', 0, FLEET, configuration);
  const open = `select count(*) as n from components where id like 'd%' and state = '[]'`;
  while ((await countOf(stack, open)) > 0) {
    if (performance.now() - started > PATIENCE_MS) break;
    await delay(LOOK_MS);
  }
  const seconds = (performance.now() - started) / 1_000;
  const left = await countOf(stack, open);
  const sessions = await countOf(stack, `select count(*) as n from sessions where ansible_limit like 'd%'`);
  return {
    what: '1,000 components from pending to configured, no-op runner',
    bar: '120 s with batches of 25',
    measured: `${round(seconds, 1)} s in ${sessions} sessions${left > 0 ? `, ${left} left over` : ''}`,
    met: seconds <= 120 && left === 0,
    samples: { seconds: [round(seconds)], sessions: [sessions] },
  };
}

/** Components that desire a configuration of which they have nothing. */
async function putPending(stack: MusterStack, prefix: string, start: number, count: number, configuration: string) {
  const tags = { ansible_connection: 'local' };
  const ids = Array.from({ length: count }, (_, index) => `${prefix}${start + index}`);
  await put(
    stack,
    ids.map((id) => ({ id, desired_config: configuration, enabled: true, tags })),
  );
}

const put = (stack: MusterStack, components: object[]) => ok(stack.call('PUT', '/v3/components', components));

const setOptions = (stack: MusterStack, options: object) => ok(stack.call('PATCH', '/v3/options', options));

async function ok(answer: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
}

async function countOf(stack: MusterStack, query: string, values: unknown[] = []): Promise<number> {
  const [row] = await stack.sql<{ n: string }>(query, values);
  return Number(row?.n);
}

async function passTimes(stack: MusterStack): Promise<number[]> {
  const rows = await stack.sql<{ ms: number }>('select last_pass_ms as ms from batcher_state');
  return rows.map(({ ms }) => ms);
}

/** Waits until so many further passes have ended. */
async function passesOver(stack: MusterStack, count: number): Promise<void> {
  const last = async () => {
    const [row] = await stack.sql<{ at: Date | null }>('select last_pass_at as at from batcher_state');
    return row?.at?.getTime() ?? 0;
  };
  for (let pass = 0; pass < count; pass += 1) {
    const before = await last();
    await eventually('a pass ends', async () => (await last()) > before, PATIENCE_MS);
  }
}

async function memoryMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}

/** Watches a process's memory; `stop` answers the most that was seen, in MiB. */
function watchMemory(pid: number): { stop(): Promise<number> } {
  let most = 0;
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      most = Math.max(most, await memoryMiB(pid));
      await delay(LOOK_MS);
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await watching;
      return most;
    },
  };
}
