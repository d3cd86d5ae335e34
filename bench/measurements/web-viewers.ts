/** What 50 open fleet pages cost the API more than one, while 100 components a second change. */
import { setTimeout as delay } from 'node:timers/promises';
import { openEvents } from '../../test/sessions/streams/event-reader.ts';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { cpuOf } from '../bare-run.ts';
import { expectOk, fleetId } from '../component-fleet.ts';
import { type KeepAliveClient, keepAliveClient } from '../keep-alive-client.ts';
import { type Measurement, round } from '../measurement.ts';
import { withFleet } from './components-fleet.ts';

const [FEW, MANY] = [1, 50];
const SECONDS = 15;
/** Components that change at once, and how often a second. */
const [AT_ONCE, TIMES] = [10, 10];
const BAR = 0.15;
/** What the page reads with each news of components, besides what it reads by the clock. */
const WITH_NEWS = ['/api/v1/fleet/grid?group=none&fields=status'];
const BY_THE_CLOCK: readonly [path: string, everyMs: number][] = [['/api/v1/fleet/attention', 5_000]];

/** A fleet page without a browser: it asks the API what the page asks, and draws nothing. Returns what closes it. */
async function openFleetPage(url: string): Promise<() => Promise<void>> {
  const client = keepAliveClient(url);
  const over = new AbortController();
  const stream = await openEvents(`${url}/api/v1/stream?topics=fleet,components,sessions`);
  const read = async (path: string) => expectOk(await client.send('GET', path));
  const news = (async () => {
    for (let seen = 0; !over.signal.aborted; ) {
      await stream.until(() => stream.frames.length > seen || over.signal.aborted);
      const topics = new Set(stream.frames.slice(seen).map(({ data }) => data?.topic));
      seen = stream.frames.length;
      if (topics.has('components')) for (const path of WITH_NEWS) await read(path);
      if (topics.has('fleet')) await read('/api/v1/fleet');
    }
  })();
  const clock = BY_THE_CLOCK.map(async ([path, everyMs]) => {
    while (!over.signal.aborted) {
      await read(path);
      await delay(everyMs, undefined, { signal: over.signal }).catch(() => undefined);
    }
  });
  return async () => {
    over.abort();
    stream.close();
    await Promise.allSettled([stream.ended, ...clock, Promise.race([news, delay(1_000)])]);
    client.close();
  };
}

/** Cores that the API uses while so many pages are open. */
async function coresWith(stack: MusterStack, client: KeepAliveClient, pages: number): Promise<number> {
  const opened = await Promise.all(Array.from({ length: pages }, () => openFleetPage(stack.url)));
  try {
    await change(client, 3);
    const pid = await stack.pidOf('api');
    const [cpu, began] = [await cpuOf(pid), performance.now()];
    await change(client, SECONDS);
    return ((await cpuOf(pid)) - cpu) / ((performance.now() - began) / 1_000);
  } finally {
    await Promise.all(opened.map((close) => close()));
  }
}

async function change(client: KeepAliveClient, seconds: number): Promise<void> {
  for (let turn = 0; turn < seconds * TIMES; turn += 1) {
    const due = delay(1_000 / TIMES);
    const ids = Array.from({ length: AT_ONCE }, (_, index) => fleetId((turn * AT_ONCE + index) % 1_000));
    const enabled = Math.floor((turn * AT_ONCE) / 1_000) % 2 === 1;
    expectOk(
      await client.send(
        'PATCH',
        '/v3/components',
        ids.map((id) => ({ id, enabled })),
      ),
    );
    await due;
  }
}

export function measureWebViewers(stack: MusterStack): Promise<Measurement> {
  return withFleet(stack, async (client) => {
    const few = await coresWith(stack, client, FEW);
    const many = await coresWith(stack, client, MANY);
    return {
      what: `${MANY} open fleet pages instead of ${FEW}, ${AT_ONCE * TIMES} changes/s: API`,
      bar: `< ${BAR} core more`,
      measured: `${round(many - few)} core more (${round(few)} and ${round(many)})`,
      met: many - few < BAR,
      samples: { cores: [round(few, 3), round(many, 3)] },
    };
  });
}
