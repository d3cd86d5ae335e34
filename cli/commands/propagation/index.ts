import type { CliLane } from '../../cli-lane.ts';
import { planCommands } from './plan-commands.ts';

export const propagation: CliLane = { plan: planCommands };
