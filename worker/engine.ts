import { join } from 'node:path';
import { NativeConnection, type WorkerOptions } from '@temporalio/worker';
import type { temporalSettings } from '../config/temporal-settings.ts';
import { tlsOptions } from '../control/temporal/connect.ts';
import { workerCodec } from '../control/temporal/payload-mac.ts';
import type { Signing } from '../control/temporal/signing.ts';
import type { loadTracing } from '../drivers/tracing/load-tracing.ts';
import { guardActivities } from './activity-guard.ts';
import { again } from './again.ts';
import { translateFailures } from './failure-interceptor.ts';

type Settings = ReturnType<typeof temporalSettings>;
type Tracing = Awaited<ReturnType<typeof loadTracing>>;
type Log = { warn(fields: object, text: string): void };

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

/** Modules that the SDK loads by their paths. */
const CHECKED_PAYLOADS = join(import.meta.dirname, 'checked-payloads.ts');

/** What all Temporal workers of a process have in common. It needs up to 16 s to stop. `signing`: null where there is no key. */
export function workerOptions(
  connection: NativeConnection,
  settings: Settings,
  { tracing, signing, log }: { tracing: Tracing | undefined; signing: Signing | null; log: Log },
): Omit<WorkerOptions, 'taskQueue'> & { connection: NativeConnection } {
  return {
    connection,
    namespace: settings.namespace,
    identity: settings.identity,
    interceptors: {
      activity: [
        ...(tracing ? tracing.worker.activity : []),
        ({ info }) => ({ inbound: guardActivities(info, { signing, log }) }),
        () => ({ inbound: translateFailures() }),
      ],
    },
    ...(tracing ? { sinks: tracing.worker.sinks } : {}),
    ...(signing === null
      ? {}
      : {
          dataConverter: {
            payloadConverterPath: CHECKED_PAYLOADS,
            failureConverterPath: CHECKED_PAYLOADS,
            payloadCodecs: [workerCodec(signing.key, { ...signing, log })],
          },
        }),
    shutdownGraceTime: '1s',
    shutdownForceTime: '15s',
    // A cancel rides on the answer to a heartbeat; the SDK's own pace would let it wait for 8 s.
    maxHeartbeatThrottleInterval: '2s',
  };
}
