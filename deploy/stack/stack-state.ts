/** `<data>/stack.json`: what runs, for `muster status`, `muster down` and a start after a crash. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { WarmViewSchema } from '../../domain/runs/warm-schema.ts';
import { ProcessIdentitySchema } from './process-identity.ts';

/** In the order in which they are stopped: who uses a server goes before it. */
export const COMPONENT_NAMES = ['worker', 'api', 'temporal', 'postgres'] as const;
export type ComponentName = (typeof COMPONENT_NAMES)[number];

const COMPONENT_STATES = [
  'waiting',
  'starting',
  'healthy',
  'unhealthy',
  'restarting',
  'stopping',
  'stopped',
  'external',
] as const;

const ComponentStateSchema = z.object({
  state: z.enum(COMPONENT_STATES),
  /** Why it is not healthy; null when it is. */
  reason: z.string().nullable(),
  process: ProcessIdentitySchema.nullable(),
  /** host:port where it listens; null for one that does not. */
  address: z.string().nullable(),
  version: z.string().nullable(),
  /** Starts after the first one. */
  restarts: z.number().int(),
  started_at: z.string().nullable(),
  /** How its last process ended, if one did. */
  last_exit: z.string().nullable(),
});
export type ComponentState = z.infer<typeof ComponentStateSchema>;

const STACK_STATES = ['starting', 'running', 'degraded', 'stopping', 'stopped', 'failed'] as const;

const StackStateSchema = z.object({
  /** Processes of this machine's worker that have imported Ansible; told by a look, never written. */
  warm_ansible: z.array(WarmViewSchema).optional(),
  state: z.enum(STACK_STATES),
  /** Why it is not `running`; null when it is. */
  reason: z.string().nullable(),
  supervisor: ProcessIdentitySchema,
  started_at: z.string(),
  versions: z.object({ muster: z.string(), node: z.string(), ansible: z.string().nullable() }),
  links: z.object({ api: z.string(), ui: z.string().optional(), docs: z.string(), temporal_ui: z.string().nullable() }),
  /** Files with the certificates that its clients on this machine have to trust; absent: a former release started it. */
  certificates: z.array(z.string()).optional(),
  /** Digests of its settings by name; absent: a former release started it. */
  settings: z.record(z.string(), z.string()).optional(),
  /** Those that are part of this stack; empty at the very beginning. */
  components: z.partialRecord(z.enum(COMPONENT_NAMES), ComponentStateSchema),
});
export type StackState = z.infer<typeof StackStateSchema>;

const stackFile = (dataDir: string): string => join(dataDir, 'stack.json');

/** What the last supervisor wrote, or null when there was none or its file is damaged. Says nothing about now. */
export function readStackState(dataDir: string): StackState | null {
  try {
    return StackStateSchema.parse(JSON.parse(readFileSync(stackFile(dataDir), 'utf8')));
  } catch {
    return null;
  }
}

/** Replaces the file as a whole. A full disk must not stop the supervisor, so a failure is only answered. */
export function writeStackState(dataDir: string, state: StackState): Error | null {
  const temporary = `${stackFile(dataDir)}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
    renameSync(temporary, stackFile(dataDir));
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
