import type { CliLane } from '../../cli-lane.ts';
import { auditCommands } from './audit-commands.ts';

export const audit: CliLane = { audit: auditCommands };
