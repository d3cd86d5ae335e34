import type { CliLane } from '../../cli-lane.ts';
import { importCommand } from './import-command.ts';

export const foreign: CliLane = { import: importCommand };
