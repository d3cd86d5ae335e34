import type { CliLane } from '../../cli-lane.ts';
import { backupCommands } from './backup-commands.ts';
import { stackCommands } from './stack-commands.ts';

export const stack: CliLane = { stack: stackCommands, backup: backupCommands };
