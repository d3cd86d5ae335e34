import { Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import { dataPaths } from '../config/data-paths.ts';
import { databaseSettings } from '../config/database-settings.ts';
import { type Environment, EnvironmentError } from '../config/environment.ts';
import { temporalSettings } from '../config/temporal-settings.ts';
import { followLoggingLevel } from '../control/configurations/logging-level.ts';
import { openSigning } from '../control/temporal/open-signing.ts';
import { hostQueueOf } from '../domain/engine/task-queues.ts';
import { readHostId } from '../drivers/machine/machine-id.ts';
import { findMacKey, hasMacKey } from '../drivers/secrets/mac-key.ts';
import type { loadTracing } from '../drivers/tracing/load-tracing.ts';
import { openDatabase } from '../store/connection/database.ts';
import { connectionName } from '../store/connection/process-names.ts';
import { imageJobsOnDisk } from '../store/images/image-jobs.ts';
import { migrate } from '../store/migrations/index.ts';
import { again } from './again.ts';
import { connectWorkers, workerOptions } from './engine.ts';
import { imageFolders, openImageMachine } from './image-builder.ts';
import type { ProbeListener } from './probe-listener.ts';

export interface ImageWorkerProcess {
  log: Logger;
  probes: ProbeListener | undefined;
  tracing: Awaited<ReturnType<typeof loadTracing>> | undefined;
  /** Is told how the process is stopped, and how to see whether any job has something on this machine. */
  onStart(process: { stop(): void; isIdle(): Promise<boolean> }): void;
}

/**
 * A worker for the work on images alone (MUSTER_WORKER_ROLE `images`), until it is told to stop. It knows database and Temporal
 * and nothing else: no secrets, no cluster, no repositories. Its queue is of the directory with the jobs: whoever has that next goes
 * on with them.
 */
export async function runImageWorker(
  env: Environment,
  { log, probes, tracing, onStart }: ImageWorkerProcess,
): Promise<void> {
  const database = databaseSettings(env);
  const { macKey: own, secretKey } = dataPaths(env.MUSTER_DATA_DIR);
  const keyFiles = { given: env.MUSTER_MAC_KEY_FILE, own, secretKey };
  const signs = hasMacKey(keyFiles);
  const db = openDatabase({ ...database, name: connectionName('muster-images', { signs }) });
  await again('database', log, () => migrate(db));
  const { signing, ...requirement } = openSigning(db, signs ? () => findMacKey(keyFiles) : null, log);
  await again('the requirement of MACs', log, requirement.follow);
  const settings = temporalSettings(env, 'images');
  const connection = await connectWorkers(settings, log);
  const stopFollowing = followLoggingLevel({ db, database, log });
  const imagesDir = dataPaths(env.MUSTER_DATA_DIR).images;
  const queue = hostQueueOf(await readHostId(imageFolders(env, imagesDir).jobs));
  const machine = await openImageMachine(env, { db, imagesDir, queue, log });
  if (machine === null) {
    throw new EnvironmentError('there is no work on images here: look at MUSTER_IMAGE_SERVICE and MUSTER_IMAGES_DIR');
  }
  const worker = await Worker.create({
    ...workerOptions(connection, settings, { tracing, signing, log }),
    taskQueue: queue,
    activities: machine.activities,
    // Watching what is open costs next to nothing; turns limit what is unpacked and packed.
    maxConcurrentActivityTaskExecutions: 500,
  });
  onStart({
    stop: () => {
      if (worker.getState() === 'RUNNING') worker.shutdown();
    },
    isIdle: async () => (await imageJobsOnDisk(db, queue)).length === 0,
  });
  const stopAnnouncing = machine.announce();
  log.info({ queue }, 'working on images');
  process.send?.('ready');
  probes?.ready(() => worker.getState() === 'RUNNING');
  await worker.run();
  stopAnnouncing();
  await stopFollowing();
  await requirement.stop();
  await connection.close();
  await db.destroy();
}
