import type { CheckCounts } from '../components/drift-schema.ts';
import type { ErrorCode } from '../errors.ts';
import type { Succeeded } from './schema.ts';

/**
 * Exit status of a run that ended well and whose results could not be written (EX_IOERR): with 0 it would be a success of nobody. The
 * pods give the same one.
 */
export const RESULTS_LOST = 74;

/** How one layer's run ended. */
export interface LayerOutcome {
  index: number;
  playbook: string;
  /** Null when the run was lost: nobody knows how it ended. */
  exitCode: number | null;
  /** Hosts with at least one task result, and how many of these failed or were unreachable. */
  hosts: number;
  failedHosts: number;
}

/** The final words of a session. */
export interface SessionOutcome {
  succeeded: Exclude<Succeeded, 'none'>;
  message: string;
  reason: ErrorCode | 'layer_failed' | 'no_host_ran' | null;
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Sentence for a layer that did not succeed. */
export function describeLayerFailure(layer: LayerOutcome): string {
  const name = `layer ${layer.index} (${layer.playbook})`;
  if (layer.exitCode === null) return `${name}: the run was lost, nobody knows how it ended; it is not started again`;
  if (hasLostResults(layer)) return `${name} failed: the results of its hosts could not be written, as on a full disk`;
  const who =
    layer.hosts === 0
      ? 'no host ran any task'
      : layer.failedHosts === 0
        ? 'no host is marked as failed'
        : `${layer.failedHosts} of ${plural(layer.hosts, 'host')} failed`;
  return `${name} failed: ${who}, exit status ${layer.exitCode}`;
}

function hasLostResults({ exitCode, hosts }: LayerOutcome): boolean {
  return exitCode === RESULTS_LOST && hosts === 0;
}

/**
 * Outcome of a session whose layers ran as far as they could: the exit code decides, never the end of a log; a lost run
 * is `unknown`; a session in which no host had a task result ends as its exit code says, and says so (cfs-flows 1.2, 1.7).
 */
export function sessionOutcome(layers: LayerOutcome[]): SessionOutcome {
  const last = layers.at(-1);
  if (last === undefined) {
    return { succeeded: 'false', message: 'the configuration limit selects no layer', reason: 'no_layer_selected' };
  }
  if (last.exitCode === null) return { succeeded: 'unknown', message: describeLayerFailure(last), reason: 'run_lost' };
  if (hasLostResults(last)) {
    return { succeeded: 'false', message: describeLayerFailure(last), reason: 'disk_low' };
  }
  const nobody = layers.every((layer) => layer.hosts === 0);
  if (last.exitCode !== 0) {
    return {
      succeeded: 'false',
      message: describeLayerFailure(last),
      reason: nobody ? 'no_host_ran' : 'layer_failed',
    };
  }
  if (nobody) return { succeeded: 'true', message: 'no host ran any task', reason: 'no_host_ran' };
  const hosts = Math.max(...layers.map((layer) => layer.hosts));
  return {
    succeeded: 'true',
    message: `${plural(layers.length, 'layer')} done on ${plural(hosts, 'host')}`,
    reason: null,
  };
}

/**
 * Outcome of a session that only checked: it succeeded when everything was found out, whatever that is; drift is no failure. A
 * lost run is `unknown`. `counts` null: nothing was recorded.
 */
export function checkOutcome(layers: LayerOutcome[], counts: CheckCounts | null): SessionOutcome {
  const last = layers.at(-1);
  if (counts === null || counts.hosts === 0 || last === undefined || last.exitCode === null)
    return sessionOutcome(layers);
  const unclear = counts.unclear === 0 ? '' : `, ${counts.unclear} could not be checked`;
  const message = `${counts.drifted} of ${counts.hosts} drifted${unclear}`;
  const failed = layers.find((layer) => layer.exitCode !== 0);
  if (failed === undefined && counts.unclear === 0) return { succeeded: 'true', message, reason: null };
  const why = failed === undefined ? '' : `: ${describeLayerFailure(failed)}`;
  return { succeeded: 'false', message: `${message}${why}`, reason: 'layer_failed' };
}
