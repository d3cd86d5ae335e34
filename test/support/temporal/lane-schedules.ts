import { BATCHER_SCHEDULE } from '../../../worker/lanes/batches.ts';
import { hardwareSyncSchedule } from '../../../worker/lanes/components.ts';
import { IMAGE_SCHEDULE } from '../../../worker/lanes/images.ts';
import { SESSION_SCHEDULES } from '../../../worker/lanes/sessions.ts';
import { TRUST_SCHEDULE } from '../../../worker/lanes/trust.ts';
import { WEBHOOK_SCHEDULE } from '../../../worker/lanes/webhooks.ts';
import type { LaneSchedule } from '../../../worker/schedules.ts';

/** The schedules of all lanes of the worker. */
export function laneSchedules({ hardwareSync = false } = {}): LaneSchedule[] {
  return [
    ...SESSION_SCHEDULES,
    ...[BATCHER_SCHEDULE, WEBHOOK_SCHEDULE, IMAGE_SCHEDULE, TRUST_SCHEDULE],
    hardwareSyncSchedule(hardwareSync),
  ];
}
