import { DefaultLogger } from '@temporalio/worker';
import { type DestinationStream, type Logger, pino } from 'pino';
import { WORKFLOWS } from '../domain/engine/workflow-names.ts';

/** The worker's log. An `error` of the engine's keeps its message, which JSON leaves out of errors. */
export function openWorkerLog(level: string, to?: DestinationStream): Logger {
  const options = { name: 'muster-worker', level, serializers: { error: errorFields } };
  return to === undefined ? pino(options) : pino(options, to);
}

/**
 * What the engine's library has to say from warnings on goes to the worker's log as warnings. That a session failed is left out: it is no
 * trouble of the worker's.
 */
export function engineLogger(log: Pick<Logger, 'warn'>): DefaultLogger {
  return new DefaultLogger('WARN', ({ level, message, meta }) => {
    if (!isFailedSession(message, meta ?? {})) log.warn({ temporal: level, ...meta }, message);
  });
}

/** A failure comes from the workflow's thread without its class and its own members: its stack begins with the name of the class. */
function isFailedSession(message: string, { workflowType, error }: Record<string, unknown>): boolean {
  if (message !== 'Workflow failed' || workflowType !== WORKFLOWS.session || !(error instanceof Error)) return false;
  return error.stack?.startsWith('ApplicationFailure: ') === true;
}

/** With the messages of its causes, and its own members as they are: `type` is the code of a failure. */
function errorFields(error: unknown): unknown {
  return error instanceof Error ? { ...pino.stdSerializers.err(error), ...error } : error;
}
