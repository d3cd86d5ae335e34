/**
 * How long the driver of a plan takes for many nodes: real steps on a real Postgres, a real Temporal, and a runner that only says how attempts
 * end. Most nodes execute nothing.
 */
import { NativeConnection, Worker } from '@temporalio/worker';
import { sql } from 'kysely';
import { createAttemptActivities, createPlanActivities } from '../../activities/propagation/activities.ts';
import { pokedPlan } from '../../control/propagation/wake-plans.ts';
import { tellOrThrow } from '../../control/temporal/tell.ts';
import { hostQueueOf, MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import { planWorkflowId } from '../../domain/propagation/workflow-id.ts';
import { openPlans, type PlanBench } from '../../test/propagation/plans/plan-bench.ts';
import { startPostgresServer } from '../../test/support/postgres/postgres-server.ts';
import { openDevServer, type TestServer, workflowBundle } from '../../test/support/temporal/workflow-environment.ts';
import { type Measurement, round } from '../measurement.ts';

const HOST = 'plan-bench-disk';
/** Most events that the history of one run of the workflow may have. */
const MOST_EVENTS = 5_000;
/** By how much the memory of the process may grow between the first tenth of the nodes and the last one, GiB. */
const BAR_GIB = 0.25;

interface Size {
  nodes: number;
  /** Nodes of the plan that are executed, spread evenly. */
  executed: number;
  minutes: number;
}

/** Every node is executed. */
export const measurePlanActions = (): Promise<Measurement> =>
  measurePlanRun({ nodes: 10_000, executed: 10_000, minutes: 3 });

/** All but a hundredth of the nodes execute nothing. */
export const measurePlanNone = (): Promise<Measurement> =>
  measurePlanRun({ nodes: 100_000, executed: 1_000, minutes: 10 });

async function measurePlanRun(size: Size): Promise<Measurement> {
  const postgres = await startPostgresServer();
  process.env.MUSTER_TEST_POSTGRES_URL = postgres.url;
  const plans = await openPlans();
  const server = await openDevServer();
  try {
    return await measured(size, plans, server);
  } finally {
    await server.close();
    await plans.close();
    await postgres.stop();
  }
}

async function measured(
  { nodes, executed, minutes }: Size,
  plans: PlanBench,
  server: TestServer,
): Promise<Measurement> {
  await makeModel(plans, nodes, executed);
  const began = performance.now();
  const { id } = await plans.process();
  const processed = (performance.now() - began) / 1_000;
  const memory: number[] = [];
  const watch = setInterval(() => memory.push(process.memoryUsage().rss / 2 ** 30), 1_000);
  const workers = await startWorkers(plans, server);
  const started = performance.now();
  await plans.start(id);
  await tellOrThrow(server.environment.client, pokedPlan(id));
  await server.environment.client.workflow.getHandle(planWorkflowId(id)).result();
  const seconds = (performance.now() - started) / 1_000;
  clearInterval(watch);
  await workers.stop();
  const { state, counts } = await plans.plan(id);
  if (state !== 'succeeded' || counts.success !== nodes)
    throw new Error(`the plan is ${state}: ${JSON.stringify(counts)}`);
  const events = await longestHistory(server, id);
  const tenth = Math.max(1, Math.floor(memory.length / 10));
  const growth = Math.max(...memory.slice(-tenth)) - Math.max(...memory.slice(0, tenth));
  return {
    what: `plan of ${nodes} nodes, of which ${executed} are executed by a runner that does nothing`,
    bar: `at most ${minutes} min, ${MOST_EVENTS} events a run, memory grows by at most ${BAR_GIB} GiB`,
    measured: `${round(seconds)} s (processed in ${round(processed)} s), ${events} events, ${round(growth)} GiB more`,
    met: seconds <= minutes * 60 && events <= MOST_EVENTS && growth <= BAR_GIB,
    samples: {
      seconds: [round(seconds)],
      process_s: [round(processed)],
      events: [events],
      memory_gib: memory.map((gib) => round(gib)),
    },
  };
}

async function startWorkers({ deps }: PlanBench, { environment }: TestServer) {
  const attempts = { run: async () => ({ outcome: 'changed' as const, verified: true }) };
  const ofAttempts = createAttemptActivities({ ...deps, hostId: HOST, attempts });
  const connection = await NativeConnection.connect({ address: environment.address });
  const options = { connection, maxConcurrentActivityTaskExecutions: 200 };
  const main = { ...createPlanActivities(deps), ...ofAttempts };
  const workers = [
    await Worker.create({
      ...options,
      taskQueue: MAIN_QUEUE,
      workflowBundle: await workflowBundle(),
      activities: main,
    }),
    await Worker.create({ ...options, taskQueue: hostQueueOf(HOST), activities: { ...ofAttempts } }),
  ];
  const running = workers.map((worker) => worker.run());
  return {
    async stop() {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await connection.close();
    },
  };
}

/** The most events that one of the workflow's runs has had. */
async function longestHistory({ environment }: TestServer, plan: string): Promise<number> {
  let most = 0;
  for await (const run of environment.client.workflow.list({ query: `WorkflowId = '${planWorkflowId(plan)}'` })) {
    const handle = environment.client.workflow.getHandle(run.workflowId, run.runId);
    most = Math.max(most, (await handle.describe()).historyLength);
  }
  return most;
}

/**
 * Resources that are staged for their first run, in chains that each begin with one that is executed. Rows are copied from a resource of
 * each kind, since the model is not what is measured.
 */
async function makeModel(plans: PlanBench, nodes: number, executed: number): Promise<void> {
  const { db } = plans;
  await plans.work(['seed-worked']);
  await plans.create('seed-none');
  const chain = nodes / executed;
  const name = sql.raw(`'n' || lpad(i::text, 6, '0')`);
  const before = sql.raw(`'n' || lpad((i - 1)::text, 6, '0')`);
  const seed = sql.raw(`case when i % ${chain} = 0 then 'seed-worked' else 'seed-none' end`);
  await sql`
    insert into propagation_resources (name, repository, definition, version, hash, handler, actions, meta_inputs, type_limit, inputs,
      tags, state, created_at, updated_at, actor)
    select ${name}, repository, definition, version, hash, handler, actions, meta_inputs, type_limit,
      case when handler = 'none' then inputs else inputs || jsonb_build_object('location_id', 'component:' || ${name}) end,
      tags, state, created_at, updated_at, actor
    from generate_series(0, ${nodes - 1}) as i join propagation_resources r on r.name = ${seed}`.execute(db);
  await sql`
    insert into propagation_staged_items (uid, resource, action, explicit, state, diff, connections_diff, base_path, tags, staged_at, actor)
    select gen_random_uuid(), ${name}, s.action, s.explicit, s.state, s.diff, s.connections_diff, s.base_path, s.tags, s.staged_at, s.actor
    from generate_series(0, ${nodes - 1}) as i join propagation_staged_items s on s.resource = ${seed}`.execute(db);
  await sql`
    insert into propagation_events (id, type, parent, parent_action, on_outcome, child, child_action, source, created_at)
    select md5(i::text), 'depends_on', ${before}, 'run', 'success', ${name}, 'run', 'user', now()
    from generate_series(1, ${nodes - 1}) as i where i % ${chain} <> 0`.execute(db);
  await sql`delete from propagation_staged_items where resource like 'seed-%'`.execute(db);
  await sql`delete from propagation_resources where name like 'seed-%'`.execute(db);
  await sql`analyze`.execute(db);
}
