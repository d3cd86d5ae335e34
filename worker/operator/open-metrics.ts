/** The metrics of an operator's process: what it counts, who may read it, and what playbooks add. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../domain/text/message-of.ts';
import type { ClusterClient } from '../../drivers/kubernetes/cluster-client.ts';
import { givenCertificate, ownCertificate } from '../../drivers/operator-metrics/metrics-certificate.ts';
import { createMetricsGuard } from '../../drivers/operator-metrics/metrics-guard.ts';
import { listenForMetrics, type MetricsListener } from '../../drivers/operator-metrics/metrics-listener.ts';
import { type OpenMeters, openOperatorMeters } from '../../drivers/operator-metrics/operator-meters.ts';
import { openUserMetrics } from '../../drivers/operator-metrics/user-metrics.ts';
import { listenForUserMetrics } from '../../drivers/operator-metrics/user-metrics-listener.ts';
import type { openWorkerLog } from '../worker-log.ts';
import { listenAddress } from './probes.ts';
import { type OperatorStart, StartRefused } from './read-start.ts';

/** Where a pod's certificate of the metrics is mounted, as the reference operator has it. */
const GIVEN = join(tmpdir(), 'k8s-metrics-server', 'serving-certs');
/** Between two looks (ms) at a certificate that others renew. */
const LOOK_MS = 60_000;

export interface OpenedMetrics extends Pick<OpenMeters, 'meters' | 'read'> {
  close(): Promise<void>;
}

export interface MetricsOpening {
  start: Pick<OperatorStart, 'entries' | 'flags'>;
  version: string;
  commit: string;
  isPod: boolean;
  client: ClusterClient;
  log: ReturnType<typeof openWorkerLog>;
}

/** Opens the metrics as the flags say. Throws `StartRefused` where their address is taken, or a given certificate cannot be used. */
export async function openMetrics({
  start,
  version,
  commit,
  isPod,
  client,
  log,
}: MetricsOpening): Promise<OpenedMetrics> {
  const { entries, flags } = start;
  const { meters, registry, read } = openOperatorMeters(entries, { version, commit });
  const closing: (() => unknown)[] = [];
  const address = flags['metrics-bind-address'];
  if (address !== '0' && address !== '') {
    // Elsewhere every user may write below the folder for temporary files.
    const folder = isPod ? GIVEN : null;
    const guard = flags['metrics-require-rbac'] ? createMetricsGuard({ client, clock: () => new Date(), log }) : null;
    const certificate = flags['metrics-secure'] ? await certificateOf(folder) : null;
    const listening = { ...listenAddress(address, isPod), certificate, guard };
    const listener = await listenForMetrics(listening, registry).catch((error: Error) => {
      throw new StartRefused([`error: port_taken: --metrics-bind-address: ${error.message}`], 1);
    });
    closing.push(() => listener.close());
    if (certificate !== null && folder !== null) closing.push(followCertificate(folder, listener, log));
  }
  const port = flags['user-metrics-port'];
  if (port > 0) {
    const taken = await listenForUserMetrics(port, openUserMetrics(registry)).catch((error: Error) => {
      log.warn({ port, err: error.message }, '--user-metrics-port: the metrics of playbooks are not taken');
      return null;
    });
    if (taken !== null) closing.push(() => taken.close());
  }
  return {
    meters,
    read,
    close: async () => {
      for (const close of closing) await close();
    },
  };
}

async function certificateOf(folder: string | null): ReturnType<typeof ownCertificate> {
  try {
    return (folder === null ? null : await givenCertificate(folder)) ?? (await ownCertificate(new Date()));
  } catch (error) {
    throw new StartRefused([`error: certificate_unusable: --metrics-secure: ${messageOf(error)}`], 1);
  }
}

/** Takes over what others renew; returns what ends that. */
function followCertificate(folder: string, listener: MetricsListener, log: MetricsOpening['log']): () => void {
  let last: string | null = null;
  const look = async () => {
    const given = await givenCertificate(folder);
    if (given === null || given.certificate === last) return;
    listener.renew(given);
    last = given.certificate;
  };
  const timer = setInterval(() => {
    look().catch((error) => log.warn({ err: messageOf(error) }, 'the certificate of the metrics stays as it was'));
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
