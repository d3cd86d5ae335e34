/** Operators beside a real API server, Postgres and Temporal, for measurements. */
import { setTimeout as delay } from 'node:timers/promises';
import { kubernetesMissing } from '../test/support/kubernetes/kubernetes-api.ts';
import { conditionsOf, type OperatorBench, openOperatorBench } from '../test/support/operator/operator-process.ts';
import { startPostgresServer } from '../test/support/postgres/postgres-server.ts';
import { startPlainTemporal } from '../test/support/temporal/plain-temporal.ts';
import type { Measurement } from './measurement.ts';

/** Between two looks at the status of a resource, ms. */
const LOOK_MS = 20;

export type OperatorWork = () => Promise<Measurement>;

/** Measures operators, each with an API server of its own; says why where none can be had. */
export async function measureOnOperators(work: [string, OperatorWork][]): Promise<Measurement[]> {
  if (work.length === 0) return [];
  const missing = kubernetesMissing();
  if (missing !== null) {
    process.stderr.write(`not measured: ${work.map(([name]) => name).join(', ')}\n  ${missing}\n`);
    return [];
  }
  const [postgres, temporal] = await Promise.all([startPostgresServer(), startPlainTemporal()]);
  process.env.MUSTER_TEST_POSTGRES_URL = postgres.url;
  process.env.MUSTER_TEST_TEMPORAL_ADDRESS = `127.0.0.1:${temporal.port}`;
  try {
    const results: Measurement[] = [];
    for (const [name, run] of work) {
      process.stderr.write(`measuring ${name}\n`);
      results.push(await run());
    }
    return results;
  } finally {
    await temporal.stop();
    await postgres.stop();
  }
}

/** Does the work with a bench of its own. `entry`: of its file of watches. */
export async function withOperators<T>(entry: object, work: (bench: OperatorBench) => Promise<T>): Promise<T> {
  const bench = await openOperatorBench(entry);
  try {
    return await work(bench);
  } finally {
    await bench.close();
  }
}

/** Makes widgets, 20 at a time. */
export async function createMany(bench: OperatorBench, names: readonly string[], spec: object = {}): Promise<void> {
  for (let at = 0; at < names.length; at += 20)
    await Promise.all(names.slice(at, at + 20).map((name) => bench.create(name, spec)));
}

/** Waits until a widget is successful. Throws where it has failed. */
export async function untilSuccessful(bench: OperatorBench, name: string): Promise<void> {
  for (;;) {
    const conditions = conditionsOf(await bench.read(name));
    if (conditions.some(({ type, status }) => type === 'Successful' && status === 'True')) return;
    const failure = conditions.find(({ type, status }) => type === 'Failure' && status === 'True');
    if (failure !== undefined) throw new Error(`${name} has failed: ${failure.message}`);
    await delay(LOOK_MS);
  }
}

/** Waits until no reconcile is open. */
export async function untilIdle({ db }: OperatorBench): Promise<void> {
  for (;;) {
    const open = await db.selectFrom('operator_reconciles').select('id').where('ended_at', 'is', null).execute();
    if (open.length === 0) return;
    await delay(LOOK_MS);
  }
}

/** Returns how many reconciles have ended, by their outcome. */
export async function countOutcomes({ db }: OperatorBench): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('operator_reconciles')
    .select(['outcome', ({ fn }) => fn.countAll<string>().as('count')])
    .where('ended_at', 'is not', null)
    .groupBy('outcome')
    .execute();
  return new Map(rows.map(({ outcome, count }) => [outcome ?? '', Number(count)]));
}
