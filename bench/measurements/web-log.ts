/** A log of 64 MiB: pages of it, jumps in it, searches through it, and one that grows while it is followed. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { eventually } from '../../test/support/eventually.ts';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { expectOk } from '../component-fleet.ts';
import { type KeepAliveClient, keepAliveClient } from '../keep-alive-client.ts';
import { type Measurement, round } from '../measurement.ts';
import { quantile } from '../statistics.ts';
import { withPage } from '../web-browser.ts';
import { heldBelow, tries } from './components-fleet.ts';

const [SIZE, PIECE] = [64 * 2 ** 20, 256 * 2 ** 10];
const NAME = 'long-log';
const PATH = `/api/v1/sessions/${NAME}`;
const RUN = 'layer=0&attempt=1';
/** Lines a second that are followed, in how many pieces, and for how long. */
const [LINES, PIECES, SECONDS] = [5_000, 4, 10];
const BAR = { whole: 1_000, first: 300, frame: 34, heapMB: 150 };

interface LongLog {
  id: string;
  /** Lines that it has. */
  total: number;
}
const made = new WeakMap<MusterStack, Promise<LongLog>>();

/** A session that goes on, with output that no test waits for. */
function longLog(stack: MusterStack): Promise<LongLog> {
  const known = made.get(stack) ?? makeLog(stack);
  made.set(stack, known);
  return known;
}

async function makeLog(stack: MusterStack): Promise<LongLog> {
  await stack.create(NAME, 'sleeping', { ansible_limit: 'n0' });
  const { id } = await stack.session(NAME);
  await eventually('its playbook writes', async () => {
    const { body } = await stack.call('GET', `${PATH}/log-lines`);
    return body.total > 0;
  });
  let line = 0;
  for (let size = 0; size < SIZE; size += PIECE) {
    let text = '';
    while (text.length < PIECE) {
      line += 1;
      text += `ok: [node${line % 1_000}] => task ${line} of the log that was written for a measurement\n`;
    }
    await add(stack, id, text);
  }
  // Its pieces are counted when they are first asked for.
  const { body } = await stack.call('GET', `${PATH}/log-lines?${RUN}&tail=1`);
  return { id, total: body.total };
}

let start = 1_000_000_000;
/** Adds a piece of output, as a worker does. */
async function add(stack: MusterStack, id: string, text: string): Promise<void> {
  start += text.length;
  await stack.sql(
    `with counter as (update streams set next_chunk = next_chunk + 1 where id = $1 returning next_chunk - 1 as seq),
      stored as (insert into output (stream_id, seq, run_id, layer, attempt, start, text)
        select $1, seq, $1 || '-bench', 0, 1, $2, $3 from counter)
      select pg_notify('muster_stream', $1)`,
    [id, start, text],
  );
}

async function onLog<T>(stack: MusterStack, work: (log: LongLog, client: KeepAliveClient) => Promise<T>): Promise<T> {
  const log = await longLog(stack);
  const client = keepAliveClient(stack.url);
  try {
    return await work(log, client);
  } finally {
    client.close();
  }
}

/** A number of a line that no try before had near it. */
const lineAt = (index: number, total: number) => 1 + ((index * 104_729 + 17) % (total - 1_000));

/** A page of 500 lines, anywhere. */
export function measureWebLogPage(stack: MusterStack): Promise<Measurement> {
  return onLog(stack, async ({ total }, client) => {
    const samples = await tries(40, async (index) => {
      const reply = await client.send('GET', `${PATH}/log-lines?${RUN}&from=${lineAt(index, total)}&limit=500`);
      expectOk(reply);
      return reply.ms;
    });
    return heldBelow(`page of 500 of ${total} lines`, 'p95 < 50 ms', samples, 0.95, 50);
  });
}

/** A line that stands nowhere, and one that stands everywhere. */
export function measureWebLogSearch(stack: MusterStack): Promise<Measurement> {
  return onLog(stack, async ({ total }, client) => {
    const asked = (words: string) => async () => {
      const reply = await client.send('GET', `${PATH}/log-search?${RUN}&${words}`);
      expectOk(reply);
      return reply.ms;
    };
    const whole = await tries(5, asked('q=nothing-has-this'));
    const first = await tries(5, asked('q=measurement&limit=1000'));
    const [all, some] = [quantile(whole, 0.5), quantile(first, 0.5)];
    return {
      what: `search through ${total} lines; its first 1,000 hits`,
      bar: `p50 < ${BAR.whole / 1_000} s; < ${BAR.first / 1_000} s`,
      measured: `p50 ${round(all, 0)} ms; ${round(some, 0)} ms`,
      met: all < BAR.whole && some < BAR.first,
      samples: { whole_ms: whole.map((ms) => round(ms, 1)), first_ms: first.map((ms) => round(ms, 1)) },
    };
  });
}

async function openLog(page: Page, { id, total }: LongLog): Promise<void> {
  await page.goto(`/ui/sessions/${NAME}?id=${id}&tab=log&${RUN}`);
  await drawn(page, total);
}
const drawn = (page: Page, line: number) =>
  page
    .getByRole('log', { name: 'Output' })
    .locator('.line')
    .filter({ has: page.getByRole('link', { name: `Line ${line}`, exact: true }) })
    .locator('code')
    .waitFor();

/** From the address of a line to its text on the page. */
export function measureWebLogJump(stack: MusterStack): Promise<Measurement> {
  return onLog(stack, (log) =>
    withPage(stack.url, async (page) => {
      await openLog(page, log);
      const samples = await tries(20, async (index) => {
        const line = lineAt(index, log.total);
        const began = performance.now();
        await page.evaluate(`location.hash = 'L${line}'`);
        await drawn(page, line);
        return performance.now() - began;
      });
      return heldBelow(`jump in ${log.total} lines`, 'p95 < 300 ms', samples, 0.95, 300);
    }),
  );
}

/** Run in the page: keeps how long each frame took, ms. */
const KEEP_FRAMES = `(() => {
  window.frames = [];
  let last = performance.now();
  const frame = (now) => { window.frames.push(now - last); last = now; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
})()`;

/** A log that grows by 5,000 lines a second, on the page that follows it. */
export function measureWebFollow(stack: MusterStack): Promise<Measurement> {
  return onLog(stack, (log) =>
    withPage(stack.url, async (page) => {
      await openLog(page, log);
      await page.evaluate(KEEP_FRAMES);
      for (let piece = 0; piece < SECONDS * PIECES; piece += 1) {
        const due = delay(1_000 / PIECES);
        await add(stack, log.id, 'a line that comes while the log is followed\n'.repeat(LINES / PIECES));
        await due;
      }
      log.total += SECONDS * LINES;
      await drawn(page, log.total);
      const { frames, heap } = await page.evaluate<{ frames: number[]; heap: number }>(
        '({ frames: window.frames, heap: performance.memory.usedJSHeapSize })',
      );
      const [frame, heapMB] = [quantile(frames, 0.95), heap / 1e6];
      return {
        what: `follow ${LINES} lines/s in a log of ${log.total}`,
        bar: `frame p95 < ${BAR.frame} ms, heap < ${BAR.heapMB} MB`,
        measured: `frame p95 ${round(frame, 1)} ms, heap ${round(heapMB, 1)} MB`,
        met: frame < BAR.frame && heapMB < BAR.heapMB,
        samples: { frame_ms: frames.map((ms) => round(ms, 1)), heap_mb: [round(heapMB, 1)] },
      };
    }),
  );
}
