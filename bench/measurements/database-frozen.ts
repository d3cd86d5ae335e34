/** How soon requests are refused while the database takes connections and says nothing any more. */
import { readdir } from 'node:fs/promises';
import { readStat, signal } from '../../drivers/machine/process-table.ts';
import { eventually } from '../../test/support/eventually.ts';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { type Measurement, round } from '../measurement.ts';
import { quantile } from '../statistics.ts';

const BAR_S = 5;
const REFUSED = 503;
const FREEZES = 5;
/** The first is asked when nobody knows yet; all that there are wait for few connections. */
const WAVES = 2;
const CLIENTS = 4;

const REQUESTS: [method: string, path: string, body?: object][] = [
  ['GET', '/v3/options'],
  ['GET', '/v3/components?limit=10'],
  ['GET', '/v3/sessions'],
  ['GET', '/v3/components/frozen'],
  ['PUT', '/v3/components/frozen', {}],
  ['PATCH', '/v3/components', { patch: {}, filters: { ids: 'frozen' } }],
  ['POST', '/v3/sessions', { name: 'frozen', configuration_name: 'none' }],
];

/** The stack's Postgres is its own. */
export async function measureFrozen(stack: MusterStack): Promise<Measurement> {
  const samples: number[] = [];
  const back: number[] = [];
  const others = new Map<number, number>();
  const ask = async (...[method, path, body]: (typeof REQUESTS)[number]) => {
    const started = performance.now();
    const { status } = await stack.call(method, path, body);
    samples.push((performance.now() - started) / 1000);
    if (status !== REFUSED) others.set(status, (others.get(status) ?? 0) + 1);
  };
  for (let freeze = 0; freeze < FREEZES; freeze += 1) {
    const server = await withChildren(await stack.pidOf('postgres'));
    for (const pid of server) signal(pid, 'SIGSTOP');
    try {
      for (let wave = 0; wave < WAVES; wave += 1) {
        const clients = Array.from({ length: CLIENTS }, () => REQUESTS).flat();
        await Promise.all(clients.map((request) => ask(...request)));
      }
    } finally {
      for (const pid of server) signal(pid, 'SIGCONT');
    }
    const thawed = performance.now();
    const serves = async () => (await stack.call('GET', '/v3/options')).status === 200;
    await eventually('the API serves again', serves, 60_000);
    back.push((performance.now() - thawed) / 1000);
  }
  const longest = Math.max(...samples);
  const wrong = [...others].map(([status, count]) => `, ${count} answered ${status}`).join('');
  return {
    what: 'a frozen database: every request is refused with 503',
    bar: `<= ${BAR_S} s`,
    measured:
      `p50 ${round(quantile(samples, 0.5))} s, max ${round(longest)} s of ${samples.length} requests${wrong}; ` +
      `served again ${round(Math.max(...back))} s after its end at most`,
    met: longest <= BAR_S && others.size === 0,
    samples: {
      seconds: samples.map((sample) => round(sample, 3)),
      back_seconds: back.map((sample) => round(sample, 3)),
    },
  };
}

/** A process and all that it has started. */
async function withChildren(pid: number): Promise<number[]> {
  const numbers = (await readdir('/proc')).filter((entry) => /^[0-9]+$/.test(entry)).map(Number);
  const stats = await Promise.all(numbers.map(readStat));
  return [pid, ...stats.flatMap((stat) => (stat?.parent === pid ? [stat.pid] : []))];
}
