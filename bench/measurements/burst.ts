/** A burst of sessions that none is admitted of: what taking them in needs, and handing them to the engine. */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import type { MusterStack } from '../../test/support/stack/muster-stack.ts';
import { type Measurement, round } from '../measurement.ts';
import { quantile } from '../statistics.ts';

const SESSIONS = 1_000;
const CLIENTS = 8;
const STARTED_WITHIN_S = 60;
const BAR_PER_SECOND = 500;
const BAR_MS = 100;
/** Looking is work too, so it is done seldom. */
const LOOK_MS = 500;

/** Eight clients, each on one connection that it keeps, post as fast as they are answered. */
export async function measureBurst(stack: MusterStack, configuration: string): Promise<Measurement> {
  await expectOk(stack.call('PATCH', '/v3/options', { max_running_sessions: 0 }));
  const left = Array.from({ length: SESSIONS }, (_, index) => `burst-${index}`);
  const latencies: number[] = [];
  const refused: number[] = [];
  const began = performance.now();
  const client = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const sent = performance.now();
      const status = await post(stack.url, agent, { name, configuration_name: configuration });
      latencies.push(performance.now() - sent);
      if (status !== 201) refused.push(status);
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const posted = (performance.now() - began) / 1000;
  let started = 0;
  while (started < SESSIONS && performance.now() - began < 2 * STARTED_WITHIN_S * 1000) {
    await delay(LOOK_MS);
    started = await startedWorkflows(stack);
  }
  const seconds = (performance.now() - began) / 1000;
  const [rate, p50, p95] = [SESSIONS / posted, quantile(latencies, 0.5), quantile(latencies, 0.95)];
  await clear(stack);
  return {
    what: `${SESSIONS} sessions posted by ${CLIENTS} clients, max_running_sessions 0`,
    bar: `${BAR_PER_SECOND}/s at p95 < ${BAR_MS} ms, all workflows started within ${STARTED_WITHIN_S} s`,
    measured:
      `${round(rate, 0)}/s, p50 ${round(p50, 0)} ms, p95 ${round(p95, 0)} ms, ` +
      `${started} workflows started in ${round(seconds, 1)} s, ${refused.length} refused`,
    met:
      rate >= BAR_PER_SECOND &&
      p95 < BAR_MS &&
      seconds <= STARTED_WITHIN_S &&
      started === SESSIONS &&
      refused.length === 0,
    samples: { latencies_ms: latencies.map((latency) => round(latency, 1)), seconds: [round(seconds, 2)] },
  };
}

function post(url: string, agent: Agent, body: object): Promise<number> {
  const payload = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) };
    const sending = request(`${url}/v3/sessions`, { method: 'POST', agent, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    sending.on('error', reject);
    sending.end(payload);
  });
}

/** Workflows that run, as soon as no message waits to be delivered. */
async function startedWorkflows(stack: MusterStack): Promise<number> {
  const [row] = await stack.sql<{ waiting: string }>('select count(*) as waiting from outbox');
  if (Number(row?.waiting) > 0) return 0;
  const query = `WorkflowType = '${WORKFLOWS.session}' AND ExecutionStatus = 'Running'`;
  return stack.temporal(async (client) => (await client.workflow.count(query)).count);
}

/** Leaves the stack as it was, for the next measurement. */
async function clear(stack: MusterStack): Promise<void> {
  await expectOk(stack.call('DELETE', '/v3/sessions?status=&name_contains=burst-'));
  await expectOk(stack.call('PATCH', '/v3/options', { max_running_sessions: 50 }));
  for (let open = SESSIONS; open > 0; ) {
    const [row] = await stack.sql<{ open: string }>(`select count(*) as open from sessions where stage <> 'ended'`);
    open = Number(row?.open);
    await delay(LOOK_MS);
  }
}

async function expectOk(answer: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
}
