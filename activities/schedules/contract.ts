/** What the run of a user's schedule asks of its activities. */
import type { BeginScheduleRun, ScheduleRunFailure, ScheduleRunRef } from '../../domain/schedules/activity-schema.ts';

/** What the run of a user's schedule asks of its activities. */
export interface ScheduleRunActivities {
  /** Records that the run of this time begins; null when there is nothing to do. */
  beginScheduleRun(input: BeginScheduleRun): Promise<ScheduleRunRef | null>;
  /** Does what the run is for; `following` when it lasts until the sessions that it made are complete. */
  performScheduleRun(input: ScheduleRunRef): Promise<'following' | 'over'>;
  /** Looks at those sessions; answers whether the run is over. */
  followScheduleRun(input: ScheduleRunRef): Promise<boolean>;
  /** Records why the run could not do what it is for. */
  failScheduleRun(input: ScheduleRunFailure): Promise<void>;
  /** Ends the run and asks for the end of its sessions. */
  cancelScheduleRun(input: ScheduleRunRef): Promise<void>;
}
