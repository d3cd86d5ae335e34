/**
 * Records the histories that every later version of the workflows must be able to replay, one for each path, into
 * test/histories: those that are named, else all. They are recorded anew only in a change that means to break with
 * running workflows:
 *
 *     node bootstrap/run.mjs exec node test/support/temporal/record-histories.ts [NAME...]
 */
import { openSessionBench } from '../stack/session-bench.ts';
import { BATCH_HISTORIES } from './histories/batches.ts';
import { COMPONENT_HISTORIES } from './histories/components.ts';
import { DEPLOYMENT_HISTORIES } from './histories/deployments.ts';
import { IMAGE_HISTORIES } from './histories/images.ts';
import { OPERATOR_HISTORIES } from './histories/operator.ts';
import { PROPAGATION_HISTORIES } from './histories/propagation.ts';
import type { Histories } from './histories/recorded.ts';
import { RUN_HISTORIES } from './histories/runs.ts';
import { SCHEDULE_HISTORIES } from './histories/schedules.ts';
import { SESSION_HISTORIES } from './histories/sessions.ts';
import { SWEEP_HISTORIES } from './histories/sessions-sweep.ts';
import { TRUST_HISTORIES } from './histories/trust.ts';
import { WEBHOOK_HISTORIES } from './histories/webhooks.ts';
import { writeHistory } from './history-files.ts';
import { openDevServer } from './workflow-environment.ts';

/** What each lane records. A new lane is one line here. */
const LANES: Readonly<Record<string, Histories>> = {
  sessions: { ...SESSION_HISTORIES, ...SWEEP_HISTORIES },
  trust: TRUST_HISTORIES,
  batches: BATCH_HISTORIES,
  components: COMPONENT_HISTORIES,
  images: IMAGE_HISTORIES,
  runs: RUN_HISTORIES,
  operator: OPERATOR_HISTORIES,
  webhooks: WEBHOOK_HISTORIES,
  schedules: SCHEDULE_HISTORIES,
  propagation: PROPAGATION_HISTORIES,
  deployments: DEPLOYMENT_HISTORIES,
};

const wanted = process.argv.slice(2);
const known = Object.values(LANES).flatMap((histories) => Object.entries(histories));
const unknown = wanted.find((name) => !known.some(([other]) => other === name));
if (unknown !== undefined) throw new Error(`no lane records a history ${unknown}`);
const server = await openDevServer();
const bench = await openSessionBench(server.environment);
for (const [name, run] of known) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const workflowId = await run(server, bench);
  const history = await server.environment.client.workflow.getHandle(workflowId).fetchHistory();
  writeHistory(name, workflowId, history);
  process.stdout.write(`${name}: ${history.events?.length} events\n`);
}
await bench.close();
await server.close();
