/** Task events of remote runs: sent to the ingest port until they are stored. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { sql } from 'kysely';
import { issueRunToken } from '../../control/runs/issue-run-token.ts';
import { type Db, openDatabase } from '../../store/connection/database.ts';
import { ensureRun } from '../../store/runs/runs.ts';
import { createStream } from '../../store/runs/streams.ts';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { cpuOf } from '../bare-run.ts';
import { type Measurement, round } from '../measurement.ts';
import { median } from '../statistics.ts';

const RUNS = 4;
const EVENTS_OF_A_RUN = 25_000;
/** A runner sends four times a second what came meanwhile. */
const LINES = 500;
const BAR = 2_000;
/** With and without the policies of operators: rounds of each, events of a run in a round, and how much slower the policies may make it. */
const ROUNDS = 3;
const EVENTS_OF_A_ROUND = 12_500;
const SHARE = 0.95;
/** Postgres's code of a transaction that was ended for another one. */
const DEADLOCK = '40P01';

export async function measureIngest(stack: MusterStack): Promise<Measurement> {
  return onDatabase(stack, async (db) => {
    const api = await stack.pidOf('api');
    const before = await cpuOf(api);
    const { rate, stored, total } = await sendRound(stack, db, EVENTS_OF_A_RUN);
    const cpu = (await cpuOf(api)) - before;
    return {
      what: 'task events taken in and stored',
      bar: `>= ${BAR}/s, none lost`,
      measured: `${round(rate, 0)}/s, ${stored} of ${total} stored`,
      met: rate >= BAR && stored === total,
      samples: { events_per_second: [round(rate, 0)], api_cpu_seconds: [round(cpu)] },
    };
  });
}

/** The same with the row-level security of operators and without, in turn. The owner of the tables is not asked, so both are to be alike. */
export function measureIngestOperators(stack: MusterStack): Promise<Measurement> {
  return onDatabase(stack, async (db) => {
    const samples: { with: number[]; without: number[] } = { with: [], without: [] };
    let lost = 0;
    // What is done for the first time counts on neither side.
    for (let turn = 0; turn <= ROUNDS; turn += 1) {
      for (const side of ['with', 'without'] as const) {
        await untilTaken(() => (side === 'with' ? givePolicies(db) : takePolicies(db)));
        const { rate, stored, total } = await sendRound(stack, db, EVENTS_OF_A_ROUND);
        lost += total - stored;
        if (turn > 0) samples[side].push(round(rate, 0));
      }
    }
    await untilTaken(() => givePolicies(db));
    const [own, bare] = [median(samples.with), median(samples.without)];
    return {
      what: 'task events taken in with the row-level security of operators, held against without',
      bar: `>= ${SHARE} x, none lost`,
      measured: `${round(own, 0)}/s and ${round(bare, 0)}/s, ${round(own / bare)} x, ${lost} lost`,
      met: own >= bare * SHARE && lost === 0,
      samples,
    };
  });
}

/** The API reads the same tables meanwhile: Postgres ends one of two that wait for each other, and that may be this. */
async function untilTaken(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === DEADLOCK)) throw error;
    }
  }
}

async function givePolicies(db: Db): Promise<void> {
  const { rows } = await sql<{ given: boolean }>`select muster_grant_operators() as given`.execute(db);
  if (rows[0]?.given !== true) throw new Error('the stack has no group role of operators');
}

async function takePolicies(db: Db): Promise<void> {
  await sql`do $$ declare one record; begin
    for one in select tablename, policyname from pg_policies where schemaname = current_schema() and policyname in ('own_rows', 'everybody') loop
      execute format('drop policy %I on %I', one.policyname, one.tablename);
      execute format('alter table %I disable row level security', one.tablename);
    end loop;
  end $$`.execute(db);
}

async function onDatabase<T>(stack: MusterStack, work: (db: Db) => Promise<T>): Promise<T> {
  const { muster } = JSON.parse(await readFile(join(stack.dataDir, 'postgres-passwords.json'), 'utf8'));
  const database = `postgres://muster:${muster}@127.0.0.1:${stack.env.MUSTER_POSTGRES_PORT}/muster`;
  const db = openDatabase({ url: database, name: 'bench' });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

/** Sends so many events of each of some new runs; returns how many were taken in each second, and how many are stored. */
async function sendRound(
  stack: MusterStack,
  db: Db,
  events: number,
): Promise<{ rate: number; stored: number; total: number }> {
  const url = `http://127.0.0.1:${stack.env.MUSTER_INGEST_PORT}`;
  const runs: { id: string; token: string }[] = [];
  for (let index = 0; index < RUNS; index += 1) {
    const id = `bench.${randomUUID()}`;
    await createStream(db, id);
    await ensureRun(db, { id, sessionId: null, streamId: id, layer: 0, attempt: 1, host: 'elsewhere' }, new Date());
    runs.push({ id, token: await issueRunToken(db, id, new Date()) });
  }
  const start = performance.now();
  await Promise.all(runs.map((run) => sendEvents(url, run, events)));
  const seconds = (performance.now() - start) / 1000;
  const ids = runs.map(({ id }) => id);
  const [row] = await stack.sql<{ count: string }>('select count(*) from events where run_id = any($1)', [ids]);
  const total = RUNS * events;
  return { rate: total / seconds, stored: Number(row?.count), total };
}

async function sendEvents(url: string, run: { id: string; token: string }, events: number): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  for (let next = 1; next <= events; ) {
    const count = Math.min(LINES, events - next + 1);
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
