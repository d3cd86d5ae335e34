import { DefaultLogger } from '@temporalio/worker';
import { type DestinationStream, type Logger, pino } from 'pino';
import { SESSION_FAILED } from '../domain/sessions/session-result.ts';

/** The worker's log. An `error` of the engine's keeps its message, which JSON leaves out of errors. */
export function openWorkerLog(level: string, to?: DestinationStream): Logger {
  const options = { name: 'muster-worker', level, serializers: { error: errorFields } };
  return to === undefined ? pino(options) : pino(options, to);
}

/**
 * What the engine's library has to say from warnings on goes to the worker's log as warnings; not that a session failed, which is no trouble of
 * the worker's.
 */
export function engineLogger(log: Pick<Logger, 'warn'>): DefaultLogger {
  return new DefaultLogger('WARN', ({ level, message, meta }) => {
    const { error } = (meta ?? {}) as { error?: { type?: unknown } };
    if (error?.type !== SESSION_FAILED) log.warn({ temporal: level, ...meta }, message);
  });
}

/** With the messages of its causes, and its own members as they are: `type` is the code of a failure. */
function errorFields(error: unknown): unknown {
  return error instanceof Error ? { ...pino.stdSerializers.err(error), ...error } : error;
}
