/** What schedules need of the workflow engine; the record is always written first. Every function rejects when it is away. */
import type { OverlapPolicy, ScheduleBody } from '../../domain/schedules/schedule-schema.ts';

/** A schedule as the engine is to have it. */
export interface EngineSchedule {
  id: string;
  name: string;
  record: ScheduleBody;
  paused: boolean;
  pause_note: string;
  paused_by: string | null;
}

/** What the engine says of a schedule. */
export interface ScheduleDescription {
  nextTimes: Date[];
  paused: boolean;
  taken: number;
  skippedOverlap: number;
  missed: number;
  /** Whether a run is going on, or waits for one that is. */
  busy: boolean;
}

export interface ScheduleEngine {
  /** Makes the schedule, or brings the one that is there to this; nothing is written when it is so already. */
  apply(schedule: EngineSchedule): Promise<void>;
  /** Removes the schedule of this name, if there is one. */
  remove(name: string): Promise<void>;
  /** Begins the run of this time, whatever the clock says; a paused schedule too. Twice for one time does no harm. */
  trigger(schedule: { name: string; overlap: OverlapPolicy }, scheduledAt: Date): Promise<void>;
  /** Null when the engine has no such schedule. */
  describe(name: string): Promise<ScheduleDescription | null>;
  /** The names of all schedules that the engine has, each with whether it is paused. May lag by a second. */
  list(): Promise<Map<string, { paused: boolean }>>;
  /** Whether the workflow of a run is open. */
  isOpen(workflowId: string): Promise<boolean>;
}
