/** The life of a worker with all lanes: database and Temporal, the lanes, the workers, and their stops in order. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { databaseSettings } from '../../config/database-settings.ts';
import type { Environment } from '../../config/environment.ts';
import { temporalSettings } from '../../config/temporal-settings.ts';
import { followLoggingLevel } from '../../control/configurations/logging-level.ts';
import { ensureSiteValues } from '../../control/configurations/site-values.ts';
import { ensureSecretKey } from '../../control/secrets/secret-key.ts';
import { connectTemporal } from '../../control/temporal/connect.ts';
import { openSigning } from '../../control/temporal/open-signing.ts';
import { registerSearchAttributes } from '../../control/temporal/register-search-attributes.ts';
import { DEPLOYMENTS_QUEUE, MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import { collectAfterStart } from '../../drivers/machine/collect-after-start.ts';
import { collectNowAndThen } from '../../drivers/machine/collect-now-and-then.ts';
import { findMacKey } from '../../drivers/secrets/mac-key.ts';
import { makeSshPrivateKey } from '../../drivers/secrets/ssh-key-pair.ts';
import type { loadTracing } from '../../drivers/tracing/load-tracing.ts';
import { migrate } from '../../store/migrations/index.ts';
import { again } from '../again.ts';
import { connectWorkers, workerOptions } from '../engine.ts';
import { LANES } from '../lanes.ts';
import { type tellLiveness, watchPolls } from '../liveness.ts';
import type { listenForProbes } from '../probe-listener.ts';
import { keepSchedules, reconcileSchedules } from '../schedules.ts';
import { workflowBundle } from '../workflow-bundle.ts';
import { type LaneParts, type Opened, openShared, ROOT } from './open-shared.ts';
import { openSite, signsMessages } from './open-site.ts';
import { createWorkers } from './run-workers.ts';

interface Process extends Pick<Opened, 'environment' | 'log' | 'paths' | 'db'> {
  tracing: Awaited<ReturnType<typeof loadTracing>> | undefined;
  liveness: ReturnType<typeof tellLiveness>;
  probes: Awaited<ReturnType<typeof listenForProbes>> | undefined;
  /** Told how to stop once there is something to stop. */
  onStart(stop: () => void): void;
}

/** Works until it is stopped; what it opened is closed again then, the database and the tracing excepted. */
export async function runLanes(env: Environment, process_: Process): Promise<void> {
  const { environment, log, paths, db, tracing, liveness, probes, onStart } = process_;
  await again('database', log, () => migrate(db));
  const site = await openSite(env, db, paths);
  const { cipher, secrets, configMaps } = site;
  if (cipher !== null) await again('database', log, () => ensureSecretKey(db, cipher, paths.secretKey));
  const shippedAnsibleConfig = await readFile(join(ROOT, 'ansible', 'ansible.cfg'), 'utf8');
  await again('store of secrets', log, () =>
    ensureSiteValues({ db, secrets, configMaps, makeSshKey: makeSshPrivateKey, shippedAnsibleConfig }),
  );

  const settings = temporalSettings(env, 'worker');
  const keyFiles = { given: env.MUSTER_MAC_KEY_FILE, own: paths.macKey, secretKey: paths.secretKey };
  const { signing, ...requirement } = openSigning(db, signsMessages(env) ? () => findMacKey(keyFiles) : null, log);
  await again('the requirement of MACs', log, requirement.follow);
  const temporal = connectTemporal(settings, tracing ? tracing.clientInterceptors : {}, signing && { ...signing, log });
  const { client } = temporal;
  const shared = await openShared({ env, environment, log, paths, db, site, client, within: tracing?.within });
  const lanes: LaneParts[] = [];
  // Only the queue of its own, and what it does beside: workflows, sweeps and all other lanes are left to other workers.
  const alone = env.MUSTER_WORKER_ROLE === 'deployments' ? 'deployments' : null;
  for (const [lane, open] of Object.entries(LANES)) {
    if (alone !== null && lane !== alone) continue;
    const parts = await open(shared);
    lanes.push(parts);
    shared.owners.push(...(parts.owners ?? []));
    if (parts.sweep !== undefined) shared.sweeps.push({ lane, sweep: parts.sweep });
  }

  const connection = await connectWorkers(settings, log);
  const scheduled = lanes.flatMap(({ schedules = [] }) => schedules);
  await again('Temporal', log, () => registerSearchAttributes(temporal.connection, settings.namespace));
  await again('Temporal', log, () => reconcileSchedules(client, scheduled));
  for (const [what, begin] of lanes.flatMap((lane) => lane.begin ?? [])) await again(what, log, begin);
  const workers = await createWorkers({
    shared: workerOptions(connection, settings, { tracing, signing, log }),
    codePath:
      alone === null ? await workflowBundle(paths.bundles, tracing ? tracing.workflowInterceptors : undefined) : null,
    queue: shared.queue,
    lanes,
  });
  const stops: (() => void | Promise<void>)[] = [
    keepSchedules(client, log, scheduled),
    ...lanes.flatMap((lane) => lane.background ?? []).map((begin) => begin()),
    shared.dispatcher.stop,
    followLoggingLevel({ db, database: databaseSettings(env), log }),
    requirement.stop,
  ];
  onStart(() => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  });
  log.info(
    { queue: alone === null ? MAIN_QUEUE : DEPLOYMENTS_QUEUE, host: shared.hostId, localRuns: env.MUSTER_LOCAL_RUNS },
    'working',
  );
  // The supervisor of the embedded stack waits for this word.
  process.send?.('ready');
  const { namespace, identity } = settings;
  // A worker whose places are all taken asks for no activities, so the polls of a worker without workflows say nothing.
  const polls =
    alone === null ? watchPolls(temporal.connection, { namespace, queue: MAIN_QUEUE, identity }) : undefined;
  liveness.ready(() => {
    const idle = workers.find((worker) => worker.getState() !== 'RUNNING');
    return idle === undefined ? (polls?.problem() ?? null) : `one of its workers is ${idle.getState()}`;
  });
  collectAfterStart();
  collectNowAndThen();
  probes?.ready(() => workers.every((worker) => worker.getState() === 'RUNNING'));
  await Promise.all(workers.map((worker) => worker.run()));
  polls?.stop();
  for (const stop of stops) await stop();
  await connection.close();
  await temporal.close();
}
