import type { CliLane } from '../../cli-lane.ts';
import { goCommand, stopCommand } from './stop-commands.ts';

export const fleet: CliLane = { stop: stopCommand, go: goCommand };
