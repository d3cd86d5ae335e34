import type { CliLane } from '../../cli-lane.ts';
import { tokenCommands } from './token-commands.ts';

export const access: CliLane = { token: tokenCommands };
