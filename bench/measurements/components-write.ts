/** Writes to a fleet of 100,000 components. */
import { setTimeout as delay } from 'node:timers/promises';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { expectOk, fleetEntry, fleetId } from '../component-fleet.ts';
import { type KeepAliveClient, keepAliveClient } from '../keep-alive-client.ts';
import { type Measurement, round } from '../measurement.ts';
import { quantile } from '../statistics.ts';
import { FLEET, heldBelow, tries, withFleet } from './components-fleet.ts';

export function measureListPatch(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, async (client) => {
    const samples = await tries(15, async (round) => {
      const body = Array.from({ length: 1_000 }, (_, index) => ({
        id: fleetId((round * 1_000 + index) % FLEET),
        enabled: round % 2 === 0,
        tags: { checked: String(round) },
      }));
      const reply = await client.send('PATCH', '/v3/components', body);
      expectOk(reply);
      return reply.ms;
    });
    return heldBelow('PATCH a list of 1,000 components', '< 200 ms', samples, 0.5, 200);
  });
}

export function measureFilterPatch(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, async (client) => {
    const samples = await tries(3, async (round) => {
      const body = { patch: { enabled: round % 2 === 0, tags: { wave: String(round) } }, filters: {} };
      const reply = await client.send('PATCH', '/v3/components', body);
      expectOk(reply);
      if (JSON.parse(reply.text).component_ids.length < FLEET) throw new Error('not all were patched');
      return reply.ms;
    });
    return heldBelow('PATCH 100,000 components by a filter', '< 10 s', samples, 0.5, 10_000);
  });
}

const CLIENTS = 8;
const APPENDS = 400;
const APPENDS_PER_SECOND = 1_000;

/** Reports as the nodes send them: first each client to components of its own, then all to the same twenty. */
export function measureAppend(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, async () => {
    const clients = Array.from({ length: CLIENTS }, () => keepAliveClient(stack.url));
    try {
      const own = await reports(clients, (client, step) => client * APPENDS + step);
      const shared = await reports(clients, (_client, step) => step % 20);
      return {
        what: `PATCH state_append, ${CLIENTS} clients`,
        bar: `>= ${APPENDS_PER_SECOND}/s`,
        measured: `${round(own.rate, 0)}/s at p95 ${round(own.p95, 1)} ms; the same components ${round(shared.rate, 0)}/s`,
        met: Math.min(own.rate, shared.rate) >= APPENDS_PER_SECOND,
        samples: { per_second: [round(own.rate, 1), round(shared.rate, 1)] },
      };
    } finally {
      for (const client of clients) client.close();
    }
  });
}

async function reports(
  clients: KeepAliveClient[],
  target: (client: number, step: number) => number,
): Promise<{ rate: number; p95: number }> {
  const started = performance.now();
  const samples = await Promise.all(
    clients.map((client, number) =>
      tries(APPENDS, async (step) => {
        const state_append = {
          clone_url: 'https://vcs.example.test/vcs/site/report.git',
          playbook: `report-${number}.yml`,
          commit: String(step).padEnd(40, 'b'),
          session_name: 'report',
        };
        const reply = await client.send('PATCH', `/v3/components/${fleetId(target(number, step))}`, { state_append });
        expectOk(reply);
        return reply.ms;
      }),
    ),
  );
  const seconds = (performance.now() - started) / 1_000;
  return { rate: (CLIENTS * APPENDS) / seconds, p95: quantile(samples.flat(), 0.95) };
}

/** The whole fleet in one request, once put and once patched; a second client asks for the version meanwhile. */
export function measureBulk(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, async (client) => {
    const entries = Array.from({ length: FLEET }, (_, index) => fleetEntry(index, 1));
    // Text beforehand: making it would keep the client that waits from looking at the clock.
    const puts = JSON.stringify(entries);
    const patches = JSON.stringify(entries.map(({ id }) => ({ id, enabled: true, tags: { put: 'yes' } })));
    const megabytes = Buffer.byteLength(puts) / 2 ** 20;
    const put = await meanwhile(stack, () => client.send('PUT', '/v3/components', puts));
    const patch = await meanwhile(stack, () => client.send('PATCH', '/v3/components', patches));
    const waits = [...put.waits, ...patch.waits];
    const longest = Math.max(...waits);
    return {
      what: '100,000 components in one PUT, one PATCH',
      bar: 'accepted; others wait < 250 ms',
      measured:
        `PUT of ${round(megabytes, 0)} MiB ${round(put.ms / 1_000, 1)} s, PATCH ${round(patch.ms / 1_000, 1)} s; ` +
        `others wait ${round(longest, 0)} ms at most, p95 ${round(quantile(waits, 0.95), 0)} ms`,
      met: longest < 250,
      samples: { ms: [round(put.ms, 0), round(patch.ms, 0)], waits: waits.map((wait) => round(wait, 1)) },
    };
  });
}

async function meanwhile(
  stack: MusterStack,
  send: () => ReturnType<KeepAliveClient['send']>,
): Promise<{ ms: number; waits: number[] }> {
  const other = keepAliveClient(stack.url);
  const waits: number[] = [];
  let going = true;
  const asking = (async () => {
    while (going) {
      waits.push((await other.send('GET', '/v3/components?limit=1')).ms);
      await delay(10);
    }
  })();
  const reply = await send().finally(() => {
    going = false;
  });
  await asking;
  other.close();
  expectOk(reply);
  return { ms: reply.ms, waits };
}
