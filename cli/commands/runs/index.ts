import type { CliLane } from '../../cli-lane.ts';
import { runCommands } from './run-commands.ts';

export const runs: CliLane = { run: runCommands };
