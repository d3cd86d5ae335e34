import {
  type Client,
  encodeScheduleOverlapPolicy,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { isMusterError } from '../../domain/errors.ts';
import { engineIdOf, nameOfEngineId } from '../../domain/schedules/schedule-naming.ts';
import type { OverlapPolicy } from '../../domain/schedules/schedule-schema.ts';
import { askInTime, EXCHANGE_MS } from '../temporal/ask-in-time.ts';
import { isAsWanted, scheduleOptions } from './schedule-options.ts';
import type { EngineSchedule, ScheduleEngine } from './schedule-port.ts';

/**
 * What a run that was asked for does while another one goes on: it is never skipped, but waits where times of the clock would
 * be skipped or share one place.
 */
const BY_HAND = {
  skip: 'BUFFER_ALL',
  buffer_one: 'BUFFER_ALL',
  allow_all: 'ALLOW_ALL',
  cancel_other: 'CANCEL_OTHER',
} as const satisfies Record<OverlapPolicy, string>;

/** Schedules in Temporal. `exchangeMs`: time of one exchange, default 3,000. */
export function createScheduleEngine(client: Client, { exchangeMs = EXCHANGE_MS } = {}): ScheduleEngine {
  const soon = <T>(work: () => Promise<T>): Promise<T> => askInTime(client, exchangeMs, work);
  const handleOf = (name: string) => client.schedule.getHandle(engineIdOf(name));
  return {
    apply: (schedule) => soon(() => apply(client, schedule)),
    remove: (name) => soon(() => unlessGone(handleOf(name).delete(), undefined)),
    trigger: ({ name, overlap }, scheduledAt) =>
      soon(async () => {
        // The SDK's own trigger cannot say which time the run is for.
        await client.workflowService.patchSchedule({
          namespace: client.options.namespace,
          scheduleId: engineIdOf(name),
          identity: client.options.identity,
          requestId: `${name}/${scheduledAt.toISOString()}`,
          patch: {
            triggerImmediately: {
              overlapPolicy: encodeScheduleOverlapPolicy(BY_HAND[overlap]),
              scheduledTime: msToTs(scheduledAt.getTime()),
            },
          },
        });
      }),
    describe: (name) =>
      soon(async () => {
        const found = await unlessGone(handleOf(name).describe(), null);
        if (found === null) return null;
        const { info, state, raw } = found;
        return {
          nextTimes: info.nextActionTimes,
          paused: state.paused,
          taken: info.numActionsTaken,
          skippedOverlap: info.numActionsSkippedOverlap,
          missed: info.numActionsMissedCatchupWindow,
          busy: info.runningActions.length > 0 || Number(raw.info?.bufferSize ?? 0) > 0,
        };
      }),
    list: () =>
      soon(async () => {
        const found = new Map<string, { paused: boolean }>();
        for await (const { scheduleId, state } of client.schedule.list()) {
          const name = nameOfEngineId(scheduleId);
          if (name !== null) found.set(name, { paused: state.paused });
        }
        return found;
      }),
    isOpen: (workflowId) =>
      soon(async () => {
        try {
          return (await client.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING';
        } catch (error) {
          if (error instanceof WorkflowNotFoundError) return false;
          throw error;
        }
      }),
  };
}

async function apply(client: Client, schedule: EngineSchedule): Promise<void> {
  const wanted = scheduleOptions(schedule);
  try {
    await client.schedule.create(wanted);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const handle = client.schedule.getHandle(wanted.scheduleId);
    try {
      if (isAsWanted(wanted, await handle.describe())) return;
      const { spec, policies, action, state } = wanted;
      await handle.update(() => ({ spec, policies, action, state }));
    } catch (refused) {
      if (!isMusterError(refused) || refused.code !== 'payload_refused') throw refused;
      // Somebody else has written it, or a release that signed nothing.
      await handle.delete();
      await client.schedule.create(wanted);
    }
  }
}

async function unlessGone<T>(answer: Promise<T>, instead: T): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return instead;
    throw error;
  }
}
