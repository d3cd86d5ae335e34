import type { EngineSchedule, ScheduleDescription, ScheduleEngine } from '../../../control/schedules/schedule-port.ts';

/** The user's schedules as an engine in memory has them. */
export interface FakeSchedules extends ScheduleEngine {
  has: Map<string, EngineSchedule>;
  triggered: { name: string; overlap: string; at: string }[];
  /** Workflows of runs that are open. */
  open: Set<string>;
  /** What it says of every schedule beside whether it is paused. */
  says: Omit<ScheduleDescription, 'paused'>;
  /** Why it does not answer; null: it does. */
  away: string | null;
  /** Runs once, in the middle of the next `apply`. */
  meanwhile: (() => Promise<void>) | null;
}

export function fakeSchedules(): FakeSchedules {
  const answers = () => {
    if (fake.away !== null) throw new Error(fake.away);
  };
  const fake: FakeSchedules = {
    has: new Map(),
    triggered: [],
    open: new Set(),
    says: { nextTimes: [], taken: 0, skippedOverlap: 0, missed: 0, busy: false },
    away: null,
    meanwhile: null,
    apply: async (schedule) => {
      answers();
      const meanwhile = fake.meanwhile;
      fake.meanwhile = null;
      await meanwhile?.();
      fake.has.set(schedule.name, schedule);
    },
    remove: async (name) => {
      answers();
      fake.has.delete(name);
    },
    trigger: async ({ name, overlap }, at) => {
      answers();
      fake.triggered.push({ name, overlap, at: at.toISOString() });
    },
    describe: async (name) => {
      answers();
      const found = fake.has.get(name);
      return found === undefined ? null : { ...fake.says, paused: found.paused };
    },
    list: async () => {
      answers();
      return new Map([...fake.has].map(([name, { paused }]) => [name, { paused }]));
    },
    isOpen: async (workflowId) => {
      answers();
      return fake.open.has(workflowId);
    },
  };
  return fake;
}
