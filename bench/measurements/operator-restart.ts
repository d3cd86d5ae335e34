/** The start of an operator that has thousands of custom resources, all of which are done. */
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { CustomResource } from '../../domain/operator/custom-resource.ts';
import { type OperatorBench, type RunningOperator, WIDGETS } from '../../test/support/operator/operator-process.ts';
import { type Measurement, round } from '../measurement.ts';
import { createMany, withOperators } from '../operator-place.ts';
import { megabytes, memoryMiB } from '../process-memory.ts';

const COUNT = 5_000;
const BAR_SECONDS = 10;
const BAR_MB = 60;
/** What a start leaves for later is done by then, ms. */
const SETTLE_MS = 15_000;

export function measureOperatorRestart(): Promise<Measurement> {
  return withOperators({}, async (bench) => {
    const empty = await started(bench);
    await createMany(
      bench,
      Array.from({ length: COUNT }, (_, index) => `many-${index}`),
    );
    await noteAsDone(bench);
    const full = await started(bench);
    const runs = await bench.db.selectFrom('operator_reconciles').select('id').execute();
    const more = full.megabytes - empty.megabytes;
    return {
      what: `start of an operator with ${COUNT} custom resources that are done`,
      bar: `ready in ${BAR_SECONDS} s without a run, + ${BAR_MB} MB`,
      measured: `${round(full.seconds, 1)} s, ${runs.length} runs, ${round(empty.megabytes, 0)} MB + ${round(more, 0)} MB`,
      met: full.seconds <= BAR_SECONDS && runs.length === 0 && more <= BAR_MB,
      samples: {
        seconds: [empty.seconds, full.seconds].map((value) => round(value, 2)),
        megabytes: [empty.megabytes, full.megabytes].map((value) => round(value, 1)),
      },
    };
  });
}

/** Starts the operator, and stops it again; returns after how long (s) it was ready, and what it takes then. */
async function started(bench: OperatorBench): Promise<{ seconds: number; megabytes: number }> {
  const began = performance.now();
  const operator: RunningOperator = await bench.start();
  const seconds = (performance.now() - began) / 1_000;
  await delay(SETTLE_MS);
  const used = megabytes(await memoryMiB(operator.process.pid ?? 0));
  await operator.stop();
  return { seconds, megabytes: used };
}

/** Records all widgets as reconciles would have left them. */
async function noteAsDone({ client, db }: OperatorBench): Promise<void> {
  const { body } = await client.ask<{ items: CustomResource[] }>({ method: 'GET', path: WIDGETS });
  const objects = body.items.map(({ metadata: { name, namespace, uid, generation } }) => ({
    ...{ name, namespace, uid, generation },
  }));
  await sql`
    insert into operator_resources (operator, api_group, version, kind, namespace, name, uid, generation, seen_mark, deleting, done_generation,
      done_mark, done_hash, last_outcome, due_at, due_class, due_reason, cause, phase, reason, created_at, updated_at)
    select w.operator, w.api_group, w.version, w.kind, o.namespace, o.name, o.uid, o.generation, '', false, o.generation,
      '', w.entry_hash, 'ok', now() + interval '10 hours', 5, 'period', '{"type":"timer"}', 'waiting', 'waits for a change or its period', now(), now()
    from operator_watches w, jsonb_to_recordset(${JSON.stringify(objects)}::jsonb) as o(namespace text, name text, uid text, generation bigint)
  `.execute(db);
}
