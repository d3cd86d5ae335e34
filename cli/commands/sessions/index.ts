import type { CliLane } from '../../cli-lane.ts';
import { sessionCommands } from './session-commands.ts';

export const sessions: CliLane = { session: sessionCommands };
