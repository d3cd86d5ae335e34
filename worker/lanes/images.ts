import { openImageMachine } from '../image-builder.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

/** The built-in image service, and this machine's share of the work on images. */
export const images: WorkerLane = async ({ env, db, paths, queue, log, builtInImages }) => {
  const machine = await openImageMachine(env, { db, imagesDir: paths.images, queue, log });
  return {
    main: builtInImages.activities,
    ...(machine === null ? {} : { machine: machine.activities, background: [() => machine.announce()] }),
  };
};
