import type { CliLane } from '../../cli-lane.ts';
import { apiCommand } from './api-command.ts';
import { completeCommand, completionCommand } from './completion-commands.ts';
import { doctorCommand } from './doctor-command.ts';
import { openCommand } from './open-command.ts';
import { versionCommand } from './version-command.ts';

export const service: CliLane = {
  doctor: doctorCommand,
  open: openCommand,
  version: versionCommand,
  api: apiCommand,
  completion: completionCommand,
  complete: completeCommand,
};
