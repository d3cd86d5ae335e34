import type { CliLane } from '../../cli-lane.ts';
import { operatorCommands } from './operator-commands.ts';

export const operator: CliLane = { operator: operatorCommands };
