import type { CliLane } from '../../cli-lane.ts';
import { secretCommands } from './secret-commands.ts';

export const secrets: CliLane = { secret: secretCommands };
