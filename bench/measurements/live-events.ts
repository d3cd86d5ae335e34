/** From the moment at which a playbook says something to the one at which a client that follows the session has it. */

import { openEvents } from '../../test/sessions/streams/event-reader.ts';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { type Measurement, round } from '../measurement.ts';
import { quantile } from '../statistics.ts';

const BAR_S = 1;
const SESSIONS = 5;

/** Both moments are of this machine's clock, so the runs have to be on it. */
export async function measureLive(
  stack: MusterStack,
  configuration: string,
  limit: string,
  what: string,
): Promise<Measurement> {
  const samples: number[] = [];
  for (let index = 0; index < SESSIONS; index += 1) {
    const name = await stack.create(`l-${index}-${Date.now() % 1e6}`, configuration, { ansible_limit: limit });
    samples.push(...(await delaysOf(stack, name)));
    const session = await stack.untilComplete(name);
    if (session.status.session.succeeded !== 'true') throw new Error(session.status.session.message);
  }
  const [p50, p95] = [quantile(samples, 0.5), quantile(samples, 0.95)];
  return {
    what,
    bar: `p95 < ${BAR_S} s`,
    measured: `p50 ${round(p50)} s, p95 ${round(p95)} s, max ${round(Math.max(...samples))} s of ${samples.length} events`,
    met: p95 < BAR_S,
    samples: { seconds: samples.map((sample) => round(sample, 3)) },
  };
}

/** How late each event of the session was, s. */
async function delaysOf(stack: MusterStack, name: string): Promise<number[]> {
  const reader = await openEvents(`${stack.url}/api/v1/sessions/${name}/events`);
  const delays: number[] = [];
  for (let seen = 0; ; seen = reader.frames.length) {
    await reader.until(() => reader.frames.length > seen);
    const now = Date.now();
    for (const { event, data } of reader.frames.slice(seen)) {
      if (event === 'end') return delays;
      delays.push((now - Date.parse(data.time)) / 1000);
    }
  }
}
