import { join, resolve } from 'node:path';
import { createImageRecords, createImageSweep, createImageWork } from '../activities/images/activities.ts';
import type { Environment } from '../config/environment.ts';
import { createAnnouncement } from '../control/images/announce-machine.ts';
import { createBuiltInImages } from '../control/images/built-in-service.ts';
import type { Tell } from '../control/temporal/tell.ts';
import type { ImageService } from '../domain/images/image-service.ts';
import { createImageBuilder } from '../drivers/image-builder/create-image-builder.ts';
import { openImages } from '../drivers/image-files/open-images.ts';
import type { Db } from '../store/connection/database.ts';

/** How often a machine says that it is there, ms. */
const WORD_MS = 20_000;

interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

const clock = () => new Date();

function limitsOf(env: Environment) {
  return {
    working: env.MUSTER_IMAGE_WORK,
    open: env.MUSTER_IMAGE_JOBS,
    stepSeconds: env.MUSTER_IMAGE_TIMEOUT,
    userSeconds: env.MUSTER_IMAGE_USER_WAIT,
    queueSeconds: env.MUSTER_IMS_QUEUE_WAIT,
  };
}

/** The built-in image service as any worker has it: for its sessions, and the looks at the records of jobs. */
export interface BuiltInImages {
  /** Null where it is switched off. */
  service: ImageService | null;
  activities: ReturnType<typeof createImageRecords> & ReturnType<typeof createImageSweep>;
}

export function openBuiltInImages(
  env: Environment,
  { db, tell, log }: { db: Db; tell: Tell; log: Log },
): BuiltInImages {
  const imageSettings = { maxBytes: env.MUSTER_IMAGE_MAX, keepFree: env.MUSTER_MIN_FREE, dkms: env.MUSTER_IMAGE_DKMS };
  const run = { db, clock, since: clock(), imageLimits: limitsOf(env) };
  const service = createBuiltInImages({ db, tell, imageFiles: null, imageSettings, clock, log });
  return {
    service: env.MUSTER_IMAGE_SERVICE ? service : null,
    activities: { ...createImageRecords(run), ...createImageSweep({ ...run, tell }) },
  };
}

/** This machine's share of the work on images. */
export interface ImageMachine {
  activities: ReturnType<typeof createImageWork>;
  /** Begins to say that this machine is there; answers what ends that. */
  announce(): () => void;
}

/** Directories of images and of their jobs; `imagesDir` where none is set. */
export function imageFolders(env: Environment, imagesDir: string): { files: string; jobs: string } {
  const files = resolve(env.MUSTER_IMAGES_DIR ?? imagesDir);
  return { files, jobs: resolve(env.MUSTER_IMAGE_JOBS_DIR ?? join(files, 'jobs')) };
}

/** Null where this worker has no part in it, or its directory of images cannot be used. */
export async function openImageMachine(
  env: Environment,
  { db, imagesDir, queue, log }: { db: Db; imagesDir: string; queue: string; log: Log },
): Promise<ImageMachine | null> {
  if (!env.MUSTER_IMAGE_SERVICE || env.MUSTER_WORKER_ROLE === 'sessions') return null;
  const { files: dir, jobs } = imageFolders(env, imagesDir);
  const imageFiles = await openImages(dir, (message) => log.warn({ dir }, message), env.MUSTER_IMAGES_OWNER);
  if (imageFiles === null) return null;
  const imageBuilder = createImageBuilder({ jobsDir: jobs });
  const activities = createImageWork({
    db,
    clock,
    imageLimits: limitsOf(env),
    imageFiles,
    imageBuilder,
    log,
    imageShells: {
      queue,
      ports: env.MUSTER_IMAGE_PORTS,
      address: env.MUSTER_IMAGE_HOST,
      host: env.MUSTER_IMAGE_PUBLIC_HOST ?? env.MUSTER_IMAGE_HOST,
    },
    minFreeDisk: env.MUSTER_MIN_FREE,
    bootFiles: env.MUSTER_IMAGE_BOOT_FILES,
  });
  const announce = () => {
    const announcing = { db, imageFiles, check: imageBuilder.check, clock, log };
    const say = createAnnouncement(announcing, { queue, ports: env.MUSTER_IMAGE_PORTS });
    const quietly = () =>
      say().catch((error) => log.warn({ err: String(error) }, 'the image service is not announced'));
    void quietly();
    const timer = setInterval(quietly, WORD_MS).unref();
    return () => clearInterval(timer);
  };
  return { activities, announce };
}
