import type { CliLane } from '../../cli-lane.ts';
import { trustCommands } from './trust-commands.ts';

export const trust: CliLane = { trust: trustCommands };
