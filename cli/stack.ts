import type { StackCommands } from './context.ts';
import { CliFailure, EXIT } from './failure.ts';

export interface StackSurroundings {
  /** Environment of this process: the stack reads its settings from it. */
  env: NodeJS.ProcessEnv;
  /** Folder of the stack, absolute. */
  dataDir: string;
  /** Leaves Ctrl-C to the stack, which then stops in order. */
  releaseSignals(): void;
}

/** The stack of this machine. What starts and stops it is loaded when it is wanted, to keep other commands fast. */
export function embeddedStack({ env, dataDir, releaseSignals }: StackSurroundings): StackCommands {
  return {
    up: async (tell, signal) => {
      const { startStack } = await import('../deploy/stack/background.ts');
      const result = await startStack({ dataDir, env, onProgress: tell, signal });
      if (signal.aborted) throw new CliFailure('interrupted', 'the stack was not started', EXIT.interrupted);
      if (result.outcome === 'failed') throw new CliFailure('stack_failed', result.message, result.exit);
      return result;
    },
    foreground: async () => {
      releaseSignals();
      const { runStack } = await import('../deploy/stack/run-stack.ts');
      return runStack({ env });
    },
    stop: async (options) => {
      const { stopStack } = await import('../deploy/stack/background.ts');
      return stopStack({ dataDir, ...options });
    },
    backup: async (path, { images }, say, signal) => {
      const { takeBackup } = await import('../deploy/backup/take-backup.ts');
      return ofStack('backup_failed', takeBackup({ dataDir, env, path, images, say, signal }));
    },
    restore: async (path, say, signal) => {
      const { restoreBackup } = await import('../deploy/backup/restore-backup.ts');
      return ofStack('restore_failed', restoreBackup({ dataDir, path, say, signal }));
    },
    state: async () => {
      const { stackStatus } = await import('../deploy/stack/background.ts');
      return stackStatus(dataDir);
    },
  };
}

/** What the stack refuses, as a failure of the command. */
async function ofStack<T>(code: string, work: Promise<T>): Promise<T> {
  const { StackError } = await import('../deploy/stack/stack-error.ts');
  return work.catch((error: unknown) => {
    if (error instanceof StackError) throw new CliFailure(code, error.message, error.exit);
    const { code: reason, message } = error as NodeJS.ErrnoException;
    throw reason === 'EACCES'
      ? new CliFailure(code, message, EXIT.notAllowed, 'ask as the user whose stack it is')
      : error;
  });
}
