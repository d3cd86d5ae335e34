/** How many workflows a stack starts on which nothing happens: what people find between their sessions in Temporal's web UI. */
import { setTimeout as delay } from 'node:timers/promises';
import { type MusterStack, startMusterStack } from '../../test/support/stack/muster-stack.ts';
import type { Measurement } from '../measurement.ts';

const MINUTES = 10;
const BAR = 16;
/** Starts of a stack, and what it has to do then, are left out. */
const SETTLE_MS = 90_000;
/** What was started is found this late at most. */
const FOUND_MS = 15_000;

/** On a stack of its own. `MUSTER_BENCH_MINUTES`: for so long, held against its part of the bar. */
export async function measureIdleWorkflows(): Promise<Measurement> {
  const minutes = Number(process.env.MUSTER_BENCH_MINUTES ?? MINUTES);
  const bar = Math.ceil((BAR * minutes) / MINUTES);
  const stack = await startMusterStack({}, 'own');
  try {
    await delay(SETTLE_MS);
    const since = new Date();
    await delay(minutes * 60_000);
    const until = new Date();
    await delay(FOUND_MS);
    const kinds = await startedBetween(stack, since, until);
    const count = [...kinds.values()].reduce((sum, of) => sum + of, 0);
    const most = [...kinds].sort(([, a], [, b]) => b - a).slice(0, 3);
    return {
      what: `workflows of an idle stack in ${minutes} min`,
      bar: `at most ${bar}`,
      measured: `${count} (${most.map(([kind, of]) => `${of} ${kind}`).join(', ')})`,
      met: count <= bar,
      samples: Object.fromEntries([...kinds].map(([kind, of]) => [kind, [of]])),
    };
  } finally {
    await stack.remove();
  }
}

async function startedBetween(stack: MusterStack, since: Date, until: Date): Promise<Map<string, number>> {
  const query = `StartTime >= '${since.toISOString()}' AND StartTime < '${until.toISOString()}'`;
  return stack.temporal(async (client) => {
    const kinds = new Map<string, number>();
    for await (const { type } of client.workflow.list({ query })) kinds.set(type, (kinds.get(type) ?? 0) + 1);
    return kinds;
  });
}
