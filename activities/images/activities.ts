import {
  closeImageRun,
  failImageRun,
  type ImageRunDependencies,
  readImageRun,
  takeImageRunTurn,
} from '../../control/images/run-image-job.ts';
import { imageMachines, type SweepImagesDependencies, sweepImageJobs } from '../../control/images/sweep-images.ts';
import {
  ImageJobRefSchema,
  ImageJobWordSchema,
  ReadImageJobSchema,
  TakeImageTurnSchema,
} from '../../domain/images/activity-schema.ts';
import { noteOnImageJob } from '../../store/images/image-jobs.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { type InputSchemas, parseInputs } from '../parse-inputs.ts';
import { cleanImageHost, cleanRoot } from './clean-machine.ts';
import type { ImageJobRecords, ImageSweepActivities, ImageWork } from './contract.ts';
import type { ImageWorkDependencies } from './machine-work.ts';
import { openRoot } from './open-root.ts';
import { packRoot } from './pack-root.ts';
import { unpackRoot } from './unpack-root.ts';
import { watchRoot } from './watch-root.ts';

const RECORD_INPUTS: InputSchemas<ImageJobRecords> = {
  readImageJob: ReadImageJobSchema,
  takeImageTurn: TakeImageTurnSchema,
  noteOnImageJob: ImageJobWordSchema,
  failImageJob: ImageJobWordSchema,
  closeImageJob: ImageJobRefSchema,
};

type ImageMachineWork = ImageWork & Pick<ImageSweepActivities, 'cleanImageHost'>;

const WORK_INPUTS: InputSchemas<ImageMachineWork> = {
  unpackRoot: ImageJobRefSchema,
  openRoot: ImageJobRefSchema,
  watchRoot: ImageJobRefSchema,
  packRoot: ImageJobRefSchema,
  cleanRoot: ImageJobRefSchema,
  cleanImageHost: null,
};

/** Looks at the records; for any worker. */
export function createImageRecords(deps: ImageRunDependencies): ImageJobRecords {
  return parseInputs(RECORD_INPUTS, {
    readImageJob: ({ jobId, untakenSeconds }) => readImageRun(deps, jobId, untakenSeconds),
    takeImageTurn: ({ jobId, status }) => takeImageRunTurn(deps, jobId, status),
    noteOnImageJob: ({ jobId, message }) => noteOnImageJob(deps.db, jobId, message),
    failImageJob: ({ jobId, message }) => failImageRun(deps, jobId, message),
    closeImageJob: ({ jobId }) => closeImageRun(deps, jobId),
  });
}

/** Goes on with what a crash left; for any worker. */
export function createImageSweep(deps: SweepImagesDependencies): Pick<ImageSweepActivities, 'sweepImageJobs'> {
  return parseInputs<Pick<ImageSweepActivities, 'sweepImageJobs'>>(
    { sweepImageJobs: null },
    {
      sweepImageJobs: () =>
        withHeartbeat(async () => {
          await sweepImageJobs(deps);
          return { queues: await imageMachines(deps) };
        }),
    },
  );
}

/** Work for the machine that has the directory of images. */
export function createImageWork(
  deps: ImageWorkDependencies & Pick<Parameters<typeof cleanImageHost>[0], 'log'>,
): ImageMachineWork {
  return parseInputs(WORK_INPUTS, {
    unpackRoot: ({ jobId }) => withHeartbeat((signal) => unpackRoot(deps, jobId, signal)),
    openRoot: ({ jobId }) => withHeartbeat((signal) => openRoot(deps, jobId, signal)),
    watchRoot: ({ jobId }) => withHeartbeat((signal) => watchRoot(deps, jobId, signal)),
    packRoot: ({ jobId }) => withHeartbeat((signal) => packRoot(deps, jobId, signal)),
    cleanRoot: ({ jobId }) => withHeartbeat(() => cleanRoot(deps, jobId)),
    cleanImageHost: () => withHeartbeat(() => cleanImageHost(deps)),
  });
}
