import type { OperatorSite } from '../../control/operator/operator-site.ts';
import { eventLogOf, type LogLevel } from '../../domain/operator/log-lines.ts';
import type { Runner } from '../../domain/runs/runner.ts';

export interface LoggedEvents {
  level: LogLevel;
  /** Whether the whole output of a run is printed when it is over. */
  isWhole: boolean;
  /** Prints a text in one piece. */
  print(text: string): void;
}

interface OfRun {
  name: string;
  namespace: string;
  gvk: string;
  job: string;
  isVerbose: boolean;
}

/** Returns a runner that tells the log of the events of a run once they are stored: what a worker before has stored is not told again. */
export function loggingRunner(
  runner: Runner,
  { log }: Pick<OperatorSite, 'log'>,
  { level, print }: Pick<LoggedEvents, 'level' | 'print'>,
  { isVerbose, ...names }: OfRun,
): Runner {
  if (level === 'nothing') return runner;
  return {
    ...runner,
    watch: (runId, cursor, take, signal) =>
      runner.watch(
        runId,
        cursor,
        async (batch) => {
          await take(batch);
          for (const { event: line } of batch.events) {
            const { record, text } = eventLogOf(line, level, isVerbose);
            const fields = { ...names, event_type: line.type, ...record?.fields };
            if (record?.level === 'error') log.warn(fields, record.message);
            else if (record !== null) log.info(fields, record.message);
            if (text !== null) print(text);
          }
        },
        signal,
      ),
  };
}
