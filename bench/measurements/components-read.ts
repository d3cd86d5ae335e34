/** What administrators wait for in a fleet of 100,000 components. */
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { expectOk, fleetId } from '../component-fleet.ts';
import type { Measurement } from '../measurement.ts';
import { FLEET, heldBelow, tries, withFleet } from './components-fleet.ts';

/** Frequent and rare statuses in turn; the only one that failed has the last id of all, and some hosts desire nothing. */
export function measureStatusList(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, async (client) => {
    const samples = await tries(80, async (index) => {
      const [status, expected] = (
        [
          ['configured', 1_000],
          ['pending', 1_000],
          ['failed', 1],
          ['unconfigured', null],
        ] as const
      )[index % 4] ?? ['', null];
      const reply = await client.send('GET', `/v3/components?limit=1000&status=${status}`);
      expectOk(reply);
      const found: number = JSON.parse(reply.text).components.length;
      if (expected !== null && found !== expected) throw new Error(`${found} components are ${status}`);
      return reply.ms;
    });
    return heldBelow('list 1,000 of 100,000 components by status', 'p95 < 150 ms', samples, 0.95, 150);
  });
}

const PAGES = 10;

/** Ten pages of the default size as `next` leads, each with state and desired state. */
export function measurePages(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, async (client) => {
    const samples = await tries(7, async () => {
      const started = performance.now();
      let next: Record<string, unknown> = { state_details: true, config_details: true };
      for (let page = 0; page < PAGES; page += 1) {
        const given = Object.entries(next).filter(([, value]) => value !== null);
        const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
        const reply = await client.send('GET', `/v3/components?${query}`);
        expectOk(reply);
        const answer: { components: unknown[]; next: Record<string, unknown> } = JSON.parse(reply.text);
        if (answer.components.length !== 1_000) throw new Error(`${answer.components.length} components in a page`);
        next = answer.next;
      }
      return performance.now() - started;
    });
    return heldBelow('10,000 components in pages of 1,000 with all details', '< 0.7 s', samples, 0.5, 700);
  });
}

export function measureGet(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, async (client) => {
    const samples = await tries(1_000, async (index) => {
      const reply = await client.send('GET', `/v3/components/${fleetId((index * 7_919) % FLEET)}`);
      expectOk(reply);
      return reply.ms;
    });
    const result = heldBelow('GET one component', 'p50 < 3 ms', samples, 0.5, 3);
    return { ...result, samples: { ms: samples.slice(0, 100) } };
  });
}
