/** The Temporal worker: opens what all lanes stand on, then the lanes, and runs their activities until it is stopped. */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Runtime } from '@temporalio/worker';
import { dataPaths, privatePaths } from '../config/data-paths.ts';
import { databaseSettings } from '../config/database-settings.ts';
import { EnvironmentError, loadEnvironment } from '../config/environment.ts';
import { startFiles } from '../config/start-files.ts';
import { isMusterError } from '../domain/errors.ts';
import { rememberPemFiles } from '../drivers/certificates/follow-renewal.ts';
import { makePrivate } from '../drivers/machine/private-files.ts';
import { loadTracing } from '../drivers/tracing/load-tracing.ts';
import { openDatabase } from '../store/connection/database.ts';
import { connectionName } from '../store/connection/process-names.ts';
import { runImageWorker } from './image-worker.ts';
import { tellLiveness } from './liveness.ts';
import { listenForProbes } from './probe-listener.ts';
import { ROOT } from './shared/open-shared.ts';
import { signsMessages } from './shared/open-site.ts';
import { runLanes } from './shared/run-lanes.ts';
import { engineLogger, openWorkerLog } from './worker-log.ts';

async function main(): Promise<void> {
  const env = loadEnvironment(process.env);
  if (env.MUSTER_WORKER_ROLE === 'operator')
    throw new EnvironmentError('MUSTER_WORKER_ROLE: an operator is started by `muster operator run`');
  const log = openWorkerLog(env.MUSTER_LOG_LEVEL);
  Runtime.install({
    logger: engineLogger(log),
    shutdownSignals: [],
    ...(env.MUSTER_TEMPORAL_METRICS
      ? { telemetryOptions: { metrics: { prometheus: { bindAddress: env.MUSTER_TEMPORAL_METRICS } } } }
      : {}),
  });
  // The first process of a container gets no signal that it does not ask for.
  let stop: () => void = () => process.exit(0);
  process.on('SIGTERM', () => stop());
  process.on('SIGINT', () => stop());
  const role = env.MUSTER_WORKER_ROLE === 'images' ? 'images' : 'worker';
  const pemFiles = await rememberPemFiles(startFiles(env, role));
  // Whoever works in an image is in this container, and goes with it.
  let isIdle = async () => true;
  pemFiles.stopWhenRenewed({ stop: () => stop(), log, ...(role === 'images' ? { isIdle: () => isIdle() } : {}) });
  const liveness = tellLiveness();
  const probes = env.MUSTER_WORKER_PROBES === undefined ? undefined : await listenForProbes(env.MUSTER_WORKER_PROBES);
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const tracing = env.MUSTER_TRACES_URL
    ? await loadTracing(env.MUSTER_TRACES_URL, 'muster-worker', version)
    : undefined;
  if (role === 'images') {
    await runImageWorker(env, {
      ...{ log, probes, tracing },
      onStart: (process) => {
        stop = process.stop;
        isIdle = process.isIdle;
      },
    });
  } else {
    const paths = dataPaths(env.MUSTER_DATA_DIR);
    // A worker for member clusters keeps nothing there, and may share the folder with another worker.
    if (env.MUSTER_WORKER_ROLE !== 'deployments') await rm(paths.temporary.worker, { recursive: true, force: true });
    await mkdir(paths.temporary.worker, { recursive: true, mode: 0o700 });
    const name = connectionName('muster-worker', { signs: signsMessages(env) });
    const db = openDatabase({ ...databaseSettings(env), name });
    void makePrivate(privatePaths(env.MUSTER_DATA_DIR)).then((failed) => {
      if (failed.length > 0) log.warn({ failed: failed.slice(0, 10) }, 'others may read files of the data directory');
    });
    await runLanes(env, {
      environment: process.env,
      log,
      paths,
      db,
      tracing,
      liveness,
      probes,
      onStart: (stopWorkers) => (stop = stopWorkers),
    });
    await db.destroy();
  }
  if (tracing) await tracing.close();
  await probes?.close();
}

main().catch((error) => {
  const isExpected = error instanceof EnvironmentError || isMusterError(error);
  process.stderr.write(`${isExpected ? error.message : (error?.stack ?? error)}\n`);
  process.exit(isExpected ? 2 : 1);
});
