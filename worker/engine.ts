import { NativeConnection, type WorkerOptions } from '@temporalio/worker';
import type { temporalSettings } from '../config/temporal-settings.ts';
import { tlsOptions } from '../control/temporal/connect.ts';
import type { loadTracing } from '../drivers/tracing/load-tracing.ts';
import { again } from './again.ts';
import { translateFailures } from './failure-interceptor.ts';

type Settings = ReturnType<typeof temporalSettings>;
type Tracing = Awaited<ReturnType<typeof loadTracing>>;

/** The connection of Temporal's workers; waits until the server is there. */
export function connectWorkers(
  settings: Settings,
  log: { warn(fields: object, text: string): void },
): Promise<NativeConnection> {
  return again('Temporal', log, () => {
    const tls = tlsOptions(settings.tls ?? (settings.apiKey ? {} : undefined));
    return NativeConnection.connect({
      address: settings.address,
      ...(tls ? { tls } : {}),
      ...(settings.apiKey ? { apiKey: settings.apiKey } : {}),
    });
  });
}

/** What all Temporal workers of a process have in common. It needs up to 16 s to stop. */
export function workerOptions(
  connection: NativeConnection,
  settings: Settings,
  tracing: Tracing | undefined,
): Omit<WorkerOptions, 'taskQueue'> & { connection: NativeConnection } {
  return {
    connection,
    namespace: settings.namespace,
    identity: settings.identity,
    interceptors: {
      activity: [...(tracing ? tracing.worker.activity : []), () => ({ inbound: translateFailures() })],
    },
    ...(tracing ? { sinks: tracing.worker.sinks } : {}),
    shutdownGraceTime: '1s',
    shutdownForceTime: '15s',
    // A cancel rides on the answer to a heartbeat; the SDK's own pace would let it wait for 8 s.
    maxHeartbeatThrottleInterval: '2s',
  };
}
