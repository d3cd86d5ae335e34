/** Staging in a large model: only what depends on what has changed is looked at; and a value that comes a long way. */
import { sql } from 'kysely';
import { createResource } from '../../control/propagation/create-resource.ts';
import { type ModelBench, openModel } from '../../test/propagation/model/model-bench.ts';
import { startPostgresServer } from '../../test/support/postgres/postgres-server.ts';
import { type Measurement, round } from '../measurement.ts';
import { median } from '../statistics.ts';

const RESOURCES = 10_000;
const DEPENDANTS = 100;
const CHAIN = 1_000;
const ROUNDS = 5;
const BAR_STAGE_S = 2;
const BAR_READ_S = 0.1;

/** On a Postgres of its own. */
export async function measurePlanStaging(): Promise<Measurement> {
  const postgres = await startPostgresServer();
  process.env.MUSTER_TEST_POSTGRES_URL = postgres.url;
  const model = await openModel();
  try {
    return await measured(model);
  } finally {
    await model.close();
    await postgres.stop();
  }
}

async function measured(model: ModelBench): Promise<Measurement> {
  await makeModel(model);
  const staging: number[] = [];
  const reading: number[] = [];
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    await sql`delete from propagation_staged_items`.execute(model.db);
    const items = await timed(staging, async () => {
      await model.set('source', { v: `new ${turn}` });
      return model.staged();
    });
    if (items.length !== DEPENDANTS + 1) throw new Error(`${items.length} items are staged`);
    const value = await timed(reading, () => model.value(`n${RESOURCES - 1}`, 'v'));
    if (value !== 'own') throw new Error(`the value at the end of the chain is ${value}`);
  }
  return {
    what: `staging of ${DEPENDANTS} dependants among ${RESOURCES} resources; a value through ${CHAIN} connections`,
    bar: `at most ${BAR_STAGE_S} s; at most ${BAR_READ_S} s`,
    measured: `${round(median(staging))} s; ${round(median(reading), 3)} s`,
    met: median(staging) <= BAR_STAGE_S && median(reading) <= BAR_READ_S,
    samples: {
      staging_s: staging.map((seconds) => round(seconds, 3)),
      reading_s: reading.map((seconds) => round(seconds, 3)),
    },
  };
}

async function timed<T>(seconds: number[], work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  seconds.push((performance.now() - started) / 1_000);
  return result;
}

/** The dependants of a source, and behind them resources that hand on a value from one to the next; all of it is committed. */
async function makeModel({ db, deps }: ModelBench): Promise<void> {
  await createResource(deps, { name: 'source', from: 'part' });
  const first = RESOURCES - 1 - CHAIN;
  await sql`
    insert into propagation_resources (name, repository, definition, version, hash, handler, actions, meta_inputs, inputs, tags, state,
      created_at, updated_at)
    select 'n' || n, repository, definition, version, hash, handler, actions, meta_inputs, inputs, tags, state, created_at, updated_at
    from propagation_resources, generate_series(1, ${RESOURCES - 1}) n where name = 'source'`.execute(db);
  await sql`
    insert into propagation_connections (id, emitter, emitter_input, receiver, receiver_input, policy, created_at)
    select gen_random_uuid(), case when n <= ${DEPENDANTS} then 'source' else 'n' || (n - 1) end, 'v', 'n' || n, 'v', 'none', now()
    from generate_series(1, ${RESOURCES - 1}) n where n <= ${DEPENDANTS} or n > ${first}`.execute(db);
  await sql`
    insert into propagation_committed (resource, inputs, connections, tags, base_path, state, updated_at)
    select r.name, r.inputs, coalesce((select jsonb_agg(jsonb_build_array(emitter, 'v', receiver, 'v')) from propagation_connections
      where receiver = r.name), '[]'), r.tags, 'resources/part/1.0.0', 'operational', now() from propagation_resources r`.execute(
    db,
  );
  await sql`update propagation_resources set state = 'operational'`.execute(db);
  await sql`delete from propagation_staged_items`.execute(db);
  await sql`analyze`.execute(db);
}
