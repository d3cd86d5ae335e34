/** Operators beside a real API server, Postgres and Temporal, for measurements. */
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { CustomResource } from '../domain/operator/custom-resource.ts';
import { kubernetesMissing } from '../test/support/kubernetes/kubernetes-api.ts';
import {
  conditionsOf,
  type OperatorBench,
  openOperatorBench,
  WIDGETS,
} from '../test/support/operator/operator-process.ts';
import { startPostgresServer } from '../test/support/postgres/postgres-server.ts';
import { startPlainTemporal } from '../test/support/temporal/plain-temporal.ts';
import type { Measurement } from './measurement.ts';

/** Between two looks at the status of a resource, ms. */
const LOOK_MS = 20;
/** Between two looks at the status of many, ms. */
const LIST_MS = 100;

/** Writes statistics of one task and an output, as ansible-runner would. */
const IDLE_RUNNER = `#!/bin/sh
dir=$2
while [ $# -gt 0 ]; do
  [ "$1" = -i ] && ident=$2
  shift
done
to=$dir/artifacts/$ident
mkdir -p "$to/job_events"
echo '{"uuid":"0-1","counter":1,"stdout":"","created":"2026-01-02T03:04:05.678901+00:00","event":"playbook_on_stats","event_data":{"ok":{"localhost":1},"processed":{"localhost":1}}}' >"$to/job_events/1-abc.json.tmp"
mv "$to/job_events/1-abc.json.tmp" "$to/job_events/1-abc.json"
echo ok >"$to/stdout"
`;

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

/** Waits until all these widgets are successful: with one list a look, since looking takes from the cores that are measured. Throws where one has failed. */
export async function untilAllSuccessful({ client }: OperatorBench, names: readonly string[]): Promise<void> {
  const left = new Set(names);
  for (;;) {
    const { body } = await client.ask<{ items: CustomResource[] }>({ method: 'GET', path: WIDGETS });
    for (const item of body.items.filter(({ metadata: { name } }) => left.has(name))) {
      const conditions = conditionsOf(item);
      const failure = conditions.find(({ type, status }) => type === 'Failure' && status === 'True');
      if (failure !== undefined) throw new Error(`${item.metadata.name} has failed: ${failure.message}`);
      if (conditions.some(({ type, status }) => type === 'Successful' && status === 'True'))
        left.delete(item.metadata.name);
    }
    if (left.size === 0) return;
    await delay(names.length === 1 ? LOOK_MS : LIST_MS);
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

/** Writes a runner that does nothing into the home of a bench; returns its path. */
export async function writeIdleRunner({ home }: OperatorBench): Promise<string> {
  const runner = join(home, 'idle-runner');
  await writeFile(runner, IDLE_RUNNER);
  await chmod(runner, 0o755);
  return runner;
}

/** Records all widgets as reconciles would have left them. Their period ends after so many seconds. */
export async function noteAsDone({ client, db }: OperatorBench, periodSeconds = 36_000): Promise<void> {
  const { body } = await client.ask<{ items: CustomResource[] }>({ method: 'GET', path: WIDGETS });
  const objects = body.items.map(({ metadata: { name, namespace, uid, generation } }) => ({
    ...{ name, namespace, uid, generation },
  }));
  await sql`
    insert into operator_resources (operator, api_group, version, kind, namespace, name, uid, generation, seen_mark, deleting, done_generation,
      done_mark, done_hash, last_outcome, due_at, due_class, due_reason, cause, phase, reason, created_at, updated_at)
    select w.operator, w.api_group, w.version, w.kind, o.namespace, o.name, o.uid, o.generation, '', false, o.generation,
      '', w.entry_hash, 'ok', now() + ${periodSeconds} * interval '1 second', 5, 'period', '{"type":"timer"}', 'waiting',
      'waits for a change or its period', now(), now()
    from operator_watches w, jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as o(namespace text, name text, uid text, generation bigint)
  `.execute(db);
}
