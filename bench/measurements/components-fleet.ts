/** A stack with a fleet of 100,000 components, made once, and how its measurements are told. */
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { makeFleet } from '../component-fleet.ts';
import { type KeepAliveClient, keepAliveClient } from '../keep-alive-client.ts';
import { type Measurement, round } from '../measurement.ts';
import { quantile } from '../statistics.ts';

export const FLEET = 100_000;
const made = new WeakSet<MusterStack>();

/** Runs `work` against a stack that has the fleet. */
export async function withFleet<T>(stack: MusterStack, work: (client: KeepAliveClient) => Promise<T>): Promise<T> {
  const client = keepAliveClient(stack.url);
  try {
    if (!made.has(stack)) await makeFleet(client, FLEET);
    made.add(stack);
    return await work(client);
  } finally {
    client.close();
  }
}

/** The milliseconds of `count` tries, one after the other. */
export async function tries(count: number, send: (index: number) => Promise<number>): Promise<number[]> {
  const samples: number[] = [];
  for (let index = 0; index < count; index += 1) samples.push(await send(index));
  return samples;
}

/** Held when the quantile `q` of the milliseconds lies below `limit`. */
export function heldBelow(what: string, bar: string, samples: number[], q: number, limit: number): Measurement {
  return {
    what,
    bar,
    measured: `p50 ${round(quantile(samples, 0.5), 1)} ms, p95 ${round(quantile(samples, 0.95), 1)} ms`,
    met: quantile(samples, q) < limit,
    samples: { ms: samples.map((sample) => round(sample, 1)) },
  };
}
