import type { CliLane } from '../../cli-lane.ts';
import { driftCommands } from './drift-commands.ts';
import { scheduleCommands } from './schedule-commands.ts';

export const schedules: CliLane = { drift: driftCommands, schedule: scheduleCommands };
