import type { CliLane } from '../../cli-lane.ts';
import { batchCommands } from './batch-commands.ts';
import { rolloutCommands } from './rollout-commands.ts';

export const batches: CliLane = { batch: batchCommands, rollout: rolloutCommands };
