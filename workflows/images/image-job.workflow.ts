/**
 * One image job (cfs-flows 7): what it has reached is in its record, so that it may begin anywhere.
 *
 *  1. wait for the turn of the machine that has the image, unpack it (fetching_image)
 *  2. open an environment with a login, and watch until the user leaves a marker (waiting_on_user); one that is gone is opened again
 *  3. wait for the turn, pack the new image (packaging_artifacts), which records the success
 *  4. whatever happened: end every process, remove the job's files
 *
 * A deleted job, or one ended by order, breaks off what is going on and goes to 4. So does one that has waited too long: each look at the record
 * asks for that.
 *
 * History: about 60 events, 6 for each time it asks for its turn: each 3 s as the first in line, each minute far behind. It
 * continues as new at the server's hint.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { ImageJobPlan, ImageJobRecords, ImageJobRef, ImageWork } from '../../activities/images/contract.ts';
import { endImageJob } from './messages.ts';

const records = proxyLocalActivities<ImageJobRecords>({
  startToCloseTimeout: '20s',
  retry: { initialInterval: '200ms', maximumInterval: '10s' },
});

/** An environment that is gone so often is no accident. */
const OPENINGS = 10;
/** How long a machine has to take up a piece of work before the record is looked at again. */
const TAKE_UP_SECONDS = 600;

/** What a run that continues another one goes on with. */
interface Counts {
  /** How often an environment was opened. */
  openings: number;
  /** For how long no machine has taken up what was asked of it. */
  untakenSeconds: number;
}

interface State extends Counts {
  /** Whether somebody said to look at the record. */
  told: boolean;
  /** Whether it is being cancelled in Temporal; told when that is on record. */
  cancelled: boolean;
}

/** The counts are those of the run before; default 0 each. */
export async function imageJobWorkflow({
  openings = 0,
  untakenSeconds = 0,
  ...input
}: ImageJobRef & Partial<Counts>): Promise<void> {
  const state: State = { told: false, cancelled: false, openings, untakenSeconds };
  setHandler(
    endImageJob,
    () => {
      state.told = true;
    },
    { description: 'The record of the job says something new, as that it is to end: the workflow reads it again.' },
  );
  CancellationScope.current().cancelRequested.catch(async () => {
    state.cancelled = true;
    await CancellationScope.nonCancellable(async () => {
      await records.failImageJob({ ...input, message: 'cancelled in Temporal' });
      state.told = true;
    });
  });
  await CancellationScope.nonCancellable(async () => {
    try {
      await customise(input, state);
    } catch (error) {
      if (!(error instanceof ActivityFailure) && !(error instanceof ApplicationFailure)) throw error;
      await records.failImageJob({ ...input, message: sentenceOf(error) });
    }
    await cleanUp(input);
  });
}

async function customise(input: ImageJobRef, state: State): Promise<void> {
  for (;;) {
    state.told = false;
    const plan = await records.readImageJob({ ...input, untakenSeconds: state.untakenSeconds });
    if (plan.over) return;
    setCurrentDetails(`**${plan.status}**`);
    if (plan.status === 'waiting_on_user' && plan.queue !== null) await serve(input, state, plan, plan.queue);
    else if (plan.status === 'packaging_artifacts' && plan.queue !== null) {
      await work(state, () => workOn(plan.queue, plan).packRoot(input));
    } else {
      const queue = await waitForTurn(input, state, 'fetching_image');
      if (queue === null) continue;
      const unpacking = await work(state, () => workOn(queue, plan).unpackRoot(input));
      if (state.told) continue;
      // It may be half unpacked, by a machine that went away: it is begun again.
      if (unpacking.state === 'not taken' && patched('unpacks-again')) continue;
      await open(input, state, plan, queue);
    }
  }
}

/** Watches the open environment, and does what its end asks for. */
async function serve(input: ImageJobRef, state: State, plan: ImageJobPlan, queue: string): Promise<void> {
  const watching = await work(state, () => workOn(queue, plan).watchRoot(input));
  const seen = watching.state === 'done' ? watching.result : null;
  if (seen?.state === 'failed') throw ApplicationFailure.nonRetryable('its user gave it up', 'image_job_failed');
  if (seen?.state === 'gone') await open(input, state, plan, queue);
  if (seen?.state === 'complete') await waitForTurn(input, state, 'packaging_artifacts');
}

async function open(input: ImageJobRef, state: State, plan: ImageJobPlan, queue: string): Promise<void> {
  state.openings += 1;
  if (state.openings > OPENINGS) {
    const detail = `its environment was gone ${OPENINGS} times`;
    throw ApplicationFailure.nonRetryable(detail, 'image_environment_failed');
  }
  await work(state, () => workOn(queue, plan).openRoot(input));
}

/** Answers the queue of the machine, or null when the job is over. */
async function waitForTurn(
  input: ImageJobRef,
  state: State,
  status: 'fetching_image' | 'packaging_artifacts',
): Promise<string | null> {
  while (!state.told) {
    const turn = await records.takeImageTurn({ ...input, status });
    if (turn.state === 'go') return turn.queue;
    if (turn.state === 'over') return null;
    setCurrentDetails(`**waits**: ${turn.message}`);
    await condition(() => state.told, turn.retrySeconds * 1000, { summary: 'asks for its turn again' });
    // The next run would not hear of a cancel that is not on record yet.
    if (workflowInfo().continueAsNewSuggested && !state.cancelled) {
      const { openings, untakenSeconds } = state;
      await continueAsNew<typeof imageJobWorkflow>({ ...input, openings, untakenSeconds });
    }
  }
  return null;
}

/** `told`: a word that the job is over broke it off; `not taken`: no machine took it in time. The record says what is next. */
type Outcome<T> = { state: 'done'; result: T } | { state: 'told' } | { state: 'not taken' };

/** Does a piece of work. What fails in it is thrown. */
async function work<T>(state: State, start: () => Promise<T>): Promise<Outcome<T>> {
  const scope = new CancellationScope();
  const result = scope.run(start);
  result.catch(() => undefined);
  await Promise.race([result.catch(() => undefined), condition(() => state.told)]);
  if (state.told) scope.cancel();
  try {
    const done = { state: 'done' as const, result: await result };
    state.untakenSeconds = 0;
    return done;
  } catch (error) {
    if (state.told) return { state: 'told' };
    if (!wasNotTaken(error)) throw error;
    state.untakenSeconds += TAKE_UP_SECONDS;
    return { state: 'not taken' };
  }
}

function wasNotTaken(error: unknown): boolean {
  return (
    error instanceof ActivityFailure &&
    error.cause instanceof TimeoutFailure &&
    error.cause.timeoutType === 'SCHEDULE_TO_START'
  );
}

/** Work on one machine. What a worker began that died is begun again by the next one. */
function workOn(taskQueue: string | null, { stepSeconds }: Pick<ImageJobPlan, 'stepSeconds'>): ImageWork {
  const common = {
    ...(taskQueue === null ? {} : { taskQueue }),
    scheduleToStartTimeout: TAKE_UP_SECONDS * 1_000,
    heartbeatTimeout: '15s',
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 20 },
  } as const;
  const long = proxyActivities<ImageWork>({ ...common, startToCloseTimeout: (stepSeconds + 60) * 1000 });
  const short = proxyActivities<ImageWork>({ ...common, startToCloseTimeout: '10m' });
  // The activity itself knows how long a user may take.
  const watch = proxyActivities<ImageWork>({
    ...common,
    startToCloseTimeout: '60d',
    retry: { initialInterval: '1s', maximumInterval: '30s' },
  });
  const clean = proxyActivities<ImageWork>({
    ...common,
    scheduleToStartTimeout: '24h',
    startToCloseTimeout: '10m',
    retry: { initialInterval: '1s', maximumInterval: '1m', maximumAttempts: 60 },
  });
  return {
    unpackRoot: long.unpackRoot,
    packRoot: long.packRoot,
    openRoot: short.openRoot,
    watchRoot: watch.watchRoot,
    cleanRoot: clean.cleanRoot,
  };
}

/** What cannot be removed now is removed by the sweep; the job is over all the same. */
async function cleanUp(input: ImageJobRef): Promise<void> {
  const plan = await records.readImageJob(input);
  if (plan.queue !== null) {
    try {
      await workOn(plan.queue, plan).cleanRoot(input);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
    }
  }
  await records.closeImageJob(input);
}

function sentenceOf(error: ActivityFailure | ApplicationFailure): string {
  if (error instanceof ApplicationFailure) return error.message;
  const { cause, activityType } = error;
  if (cause instanceof ApplicationFailure) return cause.message;
  return `${activityType} got no answer from the machine that has the images, or took too long`;
}
