import type { CliLane } from '../../cli-lane.ts';
import { clusterCommands } from './cluster-commands.ts';

export const deployments: CliLane = { cluster: clusterCommands };
