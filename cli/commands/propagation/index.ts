import type { CliLane } from '../../cli-lane.ts';
import { changeCommands } from './change-commands.ts';
import { connectionCommands } from './connection-commands.ts';
import { eventCommands } from './event-commands.ts';
import { withLater } from './later-commands.ts';
import { planCommands } from './plan-commands.ts';
import { repositoryCommands } from './repository-commands.ts';
import { resourceCommands } from './resource-commands.ts';

export const propagation: CliLane = withLater({
  repository: repositoryCommands,
  resource: resourceCommands,
  connection: connectionCommands,
  event: eventCommands,
  change: changeCommands,
  plan: planCommands,
});
