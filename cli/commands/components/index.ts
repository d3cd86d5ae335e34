import type { CliLane } from '../../cli-lane.ts';
import { componentCommands } from './component-commands.ts';

export const components: CliLane = { component: componentCommands };
