import type { CliLane } from '../../cli-lane.ts';
import { webhookCommands } from './webhook-commands.ts';

export const webhooks: CliLane = { webhook: webhookCommands };
