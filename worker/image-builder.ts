import { join, resolve } from 'node:path';
import type { Client } from '@temporalio/client';
import { createImageRecords, createImageSweep, createImageWork } from '../activities/images/activities.ts';
import type { Environment } from '../config/environment.ts';
import { createBuiltInImages } from '../control/images/built-in-service.ts';
import { createImageEngine } from '../control/images/image-engine.ts';
import type { ImageService } from '../domain/images/image-service.ts';
import { MAIN_QUEUE } from '../domain/sessions/task-queues.ts';
import { createImageBuilder } from '../drivers/image-builder/create-image-builder.ts';
import { openImages } from '../drivers/image-files/open-images.ts';
import type { openDatabase } from '../store/database.ts';
import { noteImageWorker } from '../store/image-jobs.ts';

/** How often a machine says that it is there, ms, and every how many times it looks whether it still can do it. */
const WORD_MS = 20_000;
const LOOK_EVERY = 30;

export interface BuilderParts {
  db: ReturnType<typeof openDatabase>;
  client: Client;
  /** Directory of images where none is set. */
  imagesDir: string;
  /** Queue of this machine. */
  queue: string;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** The built-in image service of this worker: for its sessions, and its share of the work. */
export interface BuiltInImages {
  service: ImageService;
  /** Activities of any worker, and those of this machine. */
  anywhere: ReturnType<typeof createImageRecords> & ReturnType<typeof createImageSweep>;
  here: Partial<ReturnType<typeof createImageWork>>;
  /** Begins to say that this machine is there; answers what ends that. */
  announce(): () => void;
}

export async function openBuiltInImages(env: Environment, parts: BuilderParts): Promise<BuiltInImages> {
  const { db, client, queue, log } = parts;
  const dir = resolve(env.MUSTER_IMAGES_DIR ?? parts.imagesDir);
  const imageFiles = await openImages(dir, (message) => log.warn({ dir }, message));
  const imageEngine = createImageEngine(client, { taskQueue: MAIN_QUEUE });
  const clock = () => new Date();
  const imageSettings = { maxBytes: env.MUSTER_IMAGE_MAX, keepFree: env.MUSTER_MIN_FREE, dkms: env.MUSTER_IMAGE_DKMS };
  const imageLimits = {
    working: env.MUSTER_IMAGE_WORK,
    open: env.MUSTER_IMAGE_JOBS,
    stepSeconds: env.MUSTER_IMAGE_TIMEOUT,
    userSeconds: env.MUSTER_IMAGE_USER_WAIT,
  };
  const run = { db, clock, imageLimits };
  const service = createBuiltInImages({ db, imageEngine, imageFiles, imageSettings, clock, log });
  const anywhere = { ...createImageRecords(run), ...createImageSweep({ ...run, client, imageEngine }) };
  if (imageFiles === null) return { service, anywhere, here: {}, announce: () => () => undefined };

  const imageBuilder = createImageBuilder({ jobsDir: join(dir, 'jobs') });
  const here = createImageWork({
    ...run,
    imageFiles,
    imageBuilder,
    imageShells: { queue, ports: env.MUSTER_IMAGE_PORTS, address: env.MUSTER_IMAGE_HOST },
    minFreeDisk: env.MUSTER_MIN_FREE,
    bootFiles: env.MUSTER_IMAGE_BOOT_FILES,
  });
  const announce = () => {
    let lacking: string[] = [];
    let count = 0;
    const say = async () => {
      if (count++ % LOOK_EVERY === 0) {
        lacking = await imageBuilder.check();
        if (lacking.length > 0) log.info({ lacking }, 'this machine cannot customise images');
      }
      const reason = lacking.join('; ');
      await noteImageWorker(db, {
        store_id: imageFiles.storeId,
        queue,
        able: lacking.length === 0,
        reason,
        seen_at: clock(),
      });
    };
    const quietly = () =>
      say().catch((error) => log.warn({ err: String(error) }, 'the image service is not announced'));
    void quietly();
    const timer = setInterval(quietly, WORD_MS).unref();
    return () => clearInterval(timer);
  };
  return { service, anywhere, here, announce };
}
