/** Whether the worker keeps something of each Job that it has followed. */
import type { ClusterStack } from '../../test/support/kubernetes/cluster-stack.ts';
import { type Measurement, round } from '../measurement.ts';
import { megabytes, memoryMiB } from '../process-memory.ts';

const SESSIONS = 200;
const CLIENTS = 8;
/** Sessions of which one figure is taken: the least of all readings, since what is garbage counts until it is collected. */
const EVERY = 20;
const READ_MS = 500;
const WITHIN_MS = 300_000;
/** From the second fifth to the last, 120 Jobs, MB: some 40 KB a Job. */
const GROWTH_MAX = 5;

export async function measureJobMemory({ stack }: ClusterStack, configuration: string): Promise<Measurement> {
  const pid = await stack.pidOf('worker');
  const least = new Array<number>(SESSIONS / EVERY).fill(Number.POSITIVE_INFINITY);
  let done = 0;
  let good = 0;
  const read = async () => {
    const place = Math.min(least.length - 1, Math.floor(done / EVERY));
    least[place] = Math.min(least[place] ?? Number.POSITIVE_INFINITY, megabytes(await memoryMiB(pid)));
  };
  const started = performance.now();
  const reading = setInterval(() => void read(), READ_MS);
  const left = Array.from({ length: SESSIONS }, (_, index) => `jw-${index}`);
  const client = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      await stack.create(name, configuration);
      const session = await stack.untilComplete(name, WITHIN_MS);
      if (session.status.session.succeeded === 'true') good += 1;
      done += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: CLIENTS }, client));
  } finally {
    clearInterval(reading);
  }
  const seconds = (performance.now() - started) / 1000;
  if ((await stack.pidOf('worker')) !== pid) throw new Error('the worker was started anew');
  const fifth = least.length / 5;
  const early = Math.min(...least.slice(fifth, 2 * fifth));
  const late = Math.min(...least.slice(-fifth));
  const growth = late - early;
  const each = (growth * 1000) / (SESSIONS * (3 / 5));
  return {
    what: `the worker's memory over ${SESSIONS} Jobs, ${CLIENTS} at a time`,
    bar: `flat: + ${GROWTH_MAX} MB at most from the second fifth to the last`,
    measured:
      `${round(early, 0)} MB, then ${growth < 0 ? '-' : '+'} ${round(Math.abs(growth), 1)} MB (${round(each, 0)} KB a Job); ` +
      `${good} of ${SESSIONS} succeeded, in ${round(seconds / 60, 1)} min`,
    met: growth <= GROWTH_MAX && good === SESSIONS,
    samples: { least_mb: least.map((value) => round(value, 1)), seconds: [round(seconds, 1)] },
  };
}
