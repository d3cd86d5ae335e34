/** From the request to the moment at which a client that follows the session has the first event of a task. */
import { openEvents } from '../../test/sessions/streams/event-reader.ts';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { type Measurement, round } from '../measurement.ts';
import { quantile } from '../statistics.ts';

const SESSIONS = 20;
const BAR_S = 0.25;

/** The first session warms caches and a process of Ansible, and does not count. */
export async function measureFirstTask(stack: MusterStack, configuration: string, limit: string): Promise<Measurement> {
  const seen: number[] = [];
  const begun: number[] = [];
  for (let index = -1; index < SESSIONS; index += 1) {
    const asked = Date.now();
    const name = await stack.create(`t-${index}-${asked % 1e6}`, configuration, { ansible_limit: limit });
    const reader = await openEvents(`${stack.url}/api/v1/sessions/${name}/events`);
    const first = () => reader.frames.find(({ event, data }) => event === 'event' && data.type === 'task_start');
    await reader.until(() => first() !== undefined || reader.frames.some(({ event }) => event === 'end'));
    const arrived = Date.now();
    reader.close();
    const session = await stack.untilComplete(name);
    const event = first();
    if (event === undefined) throw new Error(`no task has begun: ${session.status.session.message}`);
    if (index < 0) continue;
    seen.push((arrived - asked) / 1_000);
    // The event's own time, of the same machine: the rest is its way to the client.
    begun.push((Date.parse(event.data.time) - asked) / 1_000);
  }
  const p50 = quantile(seen, 0.5);
  return {
    what: 'POST session to its first task event at a client',
    bar: `p50 <= ${BAR_S} s`,
    measured: `p50 ${round(p50)} s, p95 ${round(quantile(seen, 0.95))} s; the task begins at p50 ${round(quantile(begun, 0.5))} s`,
    met: p50 <= BAR_S,
    samples: {
      seconds: seen.map((sample) => round(sample, 3)),
      seconds_to_task: begun.map((sample) => round(sample, 3)),
    },
  };
}
