import { readFile } from 'node:fs/promises';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { type ApiProcess, startApiProcess } from '../support/stack/api-process.ts';

let api: ApiProcess;
let database: TestDatabase;
const agent = new Agent({ keepAlive: true });
beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApiProcess(database.url);
  const components = Array.from({ length: 1_000 }, (_, index) => ({
    id: `x${index}`,
    desired_config: 'c',
    tags: { role: 'compute', rack: `r${index % 40}` },
  }));
  expect((await ask('PUT', '/v3/components', components)).status).toBe(200);
});
afterAll(async () => {
  agent.destroy();
  await api.stop();
  await database.close();
});

interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  milliseconds: number;
}

function ask(method: string, path: string, body?: unknown): Promise<Answered> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const options = { agent, method, headers };
    const request = httpRequest(api.base + path, options, (response) => {
      const pieces: Buffer[] = [];
      response.on('error', reject).on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(pieces).toString(),
          milliseconds: performance.now() - started,
        }),
      );
    });
    request.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** As many requests one after the other from each of some clients as pass in that time. */
async function carried(clients: number, milliseconds: number, send: () => Promise<Answered>): Promise<Answered[]> {
  const end = performance.now() + milliseconds;
  const client = async () => {
    const answers: Answered[] = [];
    while (performance.now() < end) answers.push(await send());
    return answers;
  };
  return (await Promise.all(Array.from({ length: clients }, client))).flat();
}

/** More than the server lets wait at once. */
const FIRST = 400;
/** Far more than it lets wait and work at once, so that those come in while others are refused. */
const ACCEPTED = 500;

/**
 * Ten requests for each that was accepted so far, whether answered or not, and some to begin with: ten times what is carried, however
 * fast the machine is just then. It lasts so long, and until so many were accepted, or `longest`.
 */
async function pushed(
  { milliseconds, accepted, longest }: { milliseconds: number; accepted: number; longest: number },
  send: () => Promise<Answered>,
): Promise<Answered[]> {
  const answers: Promise<Answered>[] = [];
  let isIn = 0;
  const one = async () => {
    const answer = await send();
    if (answer.status === 200) isIn += 1;
    return answer;
  };
  const start = performance.now();
  const lasts = (past: number) => past < milliseconds || (isIn < accepted && past < longest);
  while (lasts(performance.now() - start)) {
    while (answers.length < FIRST + 10 * isIn) answers.push(one());
    await delay(5);
  }
  return Promise.all(answers);
}

/** Time that the server has worked, ms; Linux counts it in hundredths of a second. */
async function worked(): Promise<number> {
  const stat = await readFile(`/proc/${api.pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

const list = () => ask('GET', '/v3/components?limit=1000&config_details=true');

test('ten times the load that is carried is refused in part, and what is accepted is as fast as before', async () => {
  await carried(4, 500, list);
  const workBefore = await worked();
  const before = await carried(4, 2_000, list);
  const workEach = ((await worked()) - workBefore) / before.length;
  expect(before.every((answer) => answer.status === 200)).toBe(true);

  const others: Answered[] = [];
  const health: Answered[] = [];
  let isOver = false;
  const meanwhile = (async () => {
    while (!isOver) {
      others.push(await ask('GET', '/v3/components/x1'));
      await delay(50);
    }
  })();
  const askHealth = async () => {
    while (!isOver) health.push(await ask('GET', '/healthz'));
  };
  const asking = askHealth();
  const workStart = await worked();
  const start = performance.now();
  const under = await pushed({ milliseconds: 8_000, accepted: ACCEPTED, longest: 300_000 }, list);
  const took = performance.now() - start;
  const work = (await worked()) - workStart;
  isOver = true;
  await Promise.all([meanwhile, asking]);

  const accepted = under.filter((answer) => answer.status === 200);
  const refused = under.filter((answer) => answer.status !== 200);
  process.stdout.write(
    `carried ${before.length / 2}/s in ${median(before.map((one) => one.milliseconds)).toFixed(0)} ms, each with ` +
      `${workEach.toFixed(1)} ms of work; of ${under.length} in ${(took / 1_000).toFixed(1)} s with ` +
      `${(work / 1_000).toFixed(1)} s of work ${accepted.length} were accepted in ${median(accepted.map((one) => one.milliseconds)).toFixed(0)} ms, ` +
      `single records took ${median(others.map((one) => one.milliseconds)).toFixed(0)} ms\n`,
  );
  for (const answer of refused) {
    expect(answer.status).toBe(503);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(JSON.parse(answer.body)).toMatchObject({ status: 503, code: 'overloaded' });
  }
  expect(refused.length).toBeGreaterThan(under.length / 2);
  for (const answer of accepted) expect(JSON.parse(answer.body).components).toHaveLength(1_000);
  // The refusals leave it time for the others: compared is its own work, not what the machine gives to it at the one or other time.
  expect(accepted.length).toBeGreaterThanOrEqual(ACCEPTED);
  expect(work / accepted.length).toBeLessThan(4 * workEach);
  // In one queue of all, half of them would have waited for longer than half of the time that all take.
  const halfOfAll = (took * under.length) / accepted.length / 2;
  expect(median(accepted.map((one) => one.milliseconds))).toBeLessThan(halfOfAll / 4);
  // Other requests do not suffer, and health is told.
  for (const answer of others) expect(answer.body).toContain('"id":"x1"');
  for (const answer of health) expect(answer.body).toContain('"db_status":"ok"');
  expect((await list()).status).toBe(200);
});

/** What a machine that is too busy cannot do in so long (ms) is refused, and its node reports again, not beside all others. */
const LONGEST = 20_000;

test('two thousand nodes that report at the same moment are all heard', async () => {
  const layer = { clone_url: 'u', playbook: 'site.yml', commit: 'abc', session_name: 's' };
  const report = async (index: number) => {
    const body = { state_append: { ...layer, playbook: `${index}.yml` } };
    return { index, answer: await ask('PATCH', `/v3/components/x${index % 1_000}`, body) };
  };
  const reports = await Promise.all(Array.from({ length: 2_000 }, (_, index) => report(index)));
  const isLate = ({ status, milliseconds }: Answered) => status === 503 && milliseconds >= LONGEST;
  const late = reports.filter(({ answer }) => isLate(answer)).map(({ index }) => index);
  const answers = reports.map(({ answer }) => answer).filter((answer) => !isLate(answer));
  const again = async () => {
    for (let index = late.pop(); index !== undefined; index = late.pop()) answers.push((await report(index)).answer);
  };
  await Promise.all(Array.from({ length: 8 }, again));
  expect(answers).toHaveLength(2_000);
  expect(answers.filter((answer) => answer.status !== 200)).toEqual([]);
});

test('a thousand sessions from eight clients are all taken', async () => {
  await ask('PUT', '/v3/configurations/c', { layers: [] });
  await ask('PATCH', '/v3/options', { max_running_sessions: 0 });
  let next = 0;
  const client = async () => {
    const answers: Answered[] = [];
    while (next < 1_000) {
      next += 1;
      answers.push(await ask('POST', '/v3/sessions', { name: `s${next}`, configuration_name: 'c' }));
    }
    return answers;
  };
  const answers = (await Promise.all(Array.from({ length: 8 }, client))).flat();
  expect(answers.filter((answer) => answer.status !== 201)).toEqual([]);
});
