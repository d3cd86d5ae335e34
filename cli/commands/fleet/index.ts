import type { CliLane } from '../../cli-lane.ts';
import { fleetCommand } from './fleet-command.ts';
import { goCommand, stopCommand } from './stop-commands.ts';

export const fleet: CliLane = { fleet: fleetCommand, stop: stopCommand, go: goCommand };
