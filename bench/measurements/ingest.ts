/** Task events of remote runs: sent to the ingest port until they are stored. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { issueRunToken } from '../../control/runs/issue-run-token.ts';
import { openDatabase } from '../../store/connection/database.ts';
import { ensureRun } from '../../store/runs/runs.ts';
import { createStream } from '../../store/runs/streams.ts';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { cpuOf } from '../bare-run.ts';
import { type Measurement, round } from '../measurement.ts';

const RUNS = 4;
const EVENTS_OF_A_RUN = 25_000;
/** A runner sends four times a second what came meanwhile. */
const LINES = 500;
const BAR = 2_000;

export async function measureIngest(stack: MusterStack): Promise<Measurement> {
  const url = `http://127.0.0.1:${stack.env.MUSTER_INGEST_PORT}`;
  const { muster } = JSON.parse(await readFile(join(stack.dataDir, 'postgres-passwords.json'), 'utf8'));
  const database = `postgres://muster:${muster}@127.0.0.1:${stack.env.MUSTER_POSTGRES_PORT}/muster`;
  const db = openDatabase({ url: database, name: 'bench' });
  try {
    const runs: { id: string; token: string }[] = [];
    for (let index = 0; index < RUNS; index += 1) {
      const id = `bench.${randomUUID()}`;
      await createStream(db, id);
      await ensureRun(db, { id, sessionId: null, streamId: id, layer: 0, attempt: 1, host: 'elsewhere' }, new Date());
      runs.push({ id, token: await issueRunToken(db, id, new Date()) });
    }
    const api = await stack.pidOf('api');
    const before = await cpuOf(api);
    const start = performance.now();
    await Promise.all(runs.map((run) => sendEvents(url, run)));
    const seconds = (performance.now() - start) / 1000;
    const cpu = (await cpuOf(api)) - before;
    const [stored] = await stack.sql<{ count: string }>("select count(*) from events where run_id like 'bench.%'");
    const total = RUNS * EVENTS_OF_A_RUN;
    const rate = total / seconds;
    return {
      what: 'task events taken in and stored',
      bar: `>= ${BAR}/s, none lost`,
      measured: `${round(rate, 0)}/s, ${stored?.count} of ${total} stored`,
      met: rate >= BAR && Number(stored?.count) === total,
      samples: { events_per_second: [round(rate, 0)], api_cpu_seconds: [round(cpu)] },
    };
  } finally {
    await db.destroy();
  }
}

async function sendEvents(url: string, run: { id: string; token: string }): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  for (let next = 1; next <= EVENTS_OF_A_RUN; ) {
    const count = Math.min(LINES, EVENTS_OF_A_RUN - next + 1);
    const body = Array.from({ length: count }, (_, index) => `${eventLine(next + index)}\n`).join('');
    next = (await post(agent, `${url}/runs/${run.id}/events?first_line=${next}`, run.token, body)) + 1;
  }
  agent.destroy();
}

/** Like one of the callback plugin for a task with a short output. */
function eventLine(index: number): string {
  return JSON.stringify({
    time: '2026-11-21T10:00:00.000Z',
    type: 'host_result',
    host: `n${index % 1000}`,
    play: 'all',
    task: `task ${index % 40}`,
    result: index % 3 === 0 ? 'changed' : 'ok',
    changed: index % 3 === 0,
    duration: 0.12,
    stdout: 'a line of output as commands have it, and another one\nof the same kind',
  });
}

function post(agent: Agent, url: string, token: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(JSON.parse(text).lines);
        else reject(new Error(`${response.statusCode}: ${text}`));
      });
    });
    sent.on('error', reject).end(body);
  });
}
