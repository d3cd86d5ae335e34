import { sweepImageJobs } from '../../control/images/sweep-images.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { openImageMachine } from '../image-builder.ts';
import { every } from '../schedules.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

export const IMAGE_SCHEDULE = every('muster-images', '2m', {
  workflowType: WORKFLOWS.sweepImages,
  workflowId: 'sweep-images',
  timeout: '15m',
  summary: 'goes on with image jobs that a crash has left, removes what no record names',
});

/** The built-in image service, and this machine's share of the work on images. */
export const images: WorkerLane = async ({ env, db, paths, queue, log, builtInImages, tell, clock }) => {
  const machine = await openImageMachine(env, { db, imagesDir: paths.images, queue, log });
  return {
    main: builtInImages.activities,
    schedules: [IMAGE_SCHEDULE],
    sweep: () => sweepImageJobs({ db, tell, clock }),
    ...(machine === null ? {} : { machine: machine.activities, background: [() => machine.announce()] }),
  };
};
