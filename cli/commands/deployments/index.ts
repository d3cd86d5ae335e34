import type { CliLane } from '../../cli-lane.ts';
import { clusterCommands } from './cluster-commands.ts';
import { deploymentCommands } from './deployment-commands.ts';

export const deployments: CliLane = { cluster: clusterCommands, deployment: deploymentCommands };
