import type { CheckCounts } from '../components/drift-schema.ts';
import { RESULTS_LOST } from '../runs/exit-status.ts';
import { type LayerCount, layerName } from './layer-name.ts';
import type { Succeeded } from './schema.ts';
import type { SessionReason } from './session-reason.ts';

/** How one layer's run ended. */
export interface LayerOutcome {
  index: number;
  playbook: string;
  /** Which of the session's layers it is; absent in outcomes of before it was told. */
  place?: LayerCount | undefined;
  /** Null when the run was lost: nobody knows how it ended. */
  exitCode: number | null;
  /** Hosts with at least one task result, and how many of these failed or were unreachable. */
  hosts: number;
  failedHosts: number;
  /** It ended without statistics of its own: what its hosts reached is known by their tasks alone. */
  brokeOff?: boolean;
  /** Why: Ansible's own words for the end of the playbook, else what most of the failed hosts say; null where neither is known. */
  why?: string | null;
  /** How the hosts of the session stand after it, each by its worst layer. Absent in outcomes of before there was such a count. */
  tally?: SessionTally;
}

/** How the hosts of a session stand, each by its worst layer, as its table of hosts has them. */
export interface SessionTally {
  hosts: number;
  failed: number;
  incomplete: number;
  notReached: number;
  /** Of those that failed, the first few by name. */
  failedNames: string[];
}

/** Names that a sentence has at most. */
export const NAMED_IN_A_SENTENCE = 5;

/** The final words of a session. */
export interface SessionOutcome {
  succeeded: Exclude<Succeeded, 'none'>;
  message: string;
  reason: SessionReason | null;
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Exit statuses above this are of a process that a signal ended: 128 and the number of the signal. */
const SIGNALLED = 128;
const LAST_SIGNAL = 64;
const SIGNAL_NAMES: Record<number, string> = { 6: 'SIGABRT', 9: 'out of memory?', 11: 'SIGSEGV', 15: 'SIGTERM' };

/** Sentence for a layer that did not succeed. */
export function describeLayerFailure(layer: LayerOutcome): string {
  const name = layerName(layer.index, layer.place, layer.playbook);
  const who = whoFailed(layer);
  if (layer.exitCode === null) {
    const lost = `${name}: the run was lost, nobody knows how it ended; it is not started again`;
    return layer.tally === undefined || who === null ? lost : `${lost}; ${who}`;
  }
  if (hasLostResults(layer)) return `${name} failed: the results of its hosts could not be written, as on a full disk`;
  const killed = killedBy(layer.exitCode);
  const why = layer.why ? `: ${layer.why}` : '';
  if (killed !== null) {
    const reached = layer.hosts === 0 ? 'before any host had run a task' : `after ${had(layer.hosts)} run tasks`;
    return `${name} failed: ansible-playbook was ${killed} ${reached}${who === null ? '' : `; ${who}`}`;
  }
  if (layer.brokeOff) {
    const what = `the playbook broke off after ${had(layer.hosts)} run tasks`;
    return `${name} failed: ${what}${why || `, exit status ${layer.exitCode}`}${who === null ? '' : `; ${who}`}`;
  }
  const failure = layer.hosts === 0 ? 'no host ran any task' : (who ?? 'no host is marked as failed');
  return `${name} failed: ${failure}, exit status ${layer.exitCode}${why}`;
}

const had = (hosts: number): string => `${plural(hosts, 'host')} had`;

/** The signal that ended a process with this exit status, in words; null for a program that ended by itself. */
function killedBy(exitCode: number): string | null {
  const number = exitCode - SIGNALLED;
  if (number < 1 || number > LAST_SIGNAL) return null;
  const name = SIGNAL_NAMES[number];
  return `killed by signal ${number}${name === undefined ? '' : ` (${name})`}`;
}

/** How many hosts failed, with their names, and how many were not reached; null when none failed and all were reached. */
function whoFailed({ hosts, failedHosts, tally }: LayerOutcome): string | null {
  if (tally === undefined) return failedHosts === 0 ? null : `${failedHosts} of ${plural(hosts, 'host')} failed`;
  const parts = [
    ...(tally.failed === 0 ? [] : [`${tally.failed} of ${plural(tally.hosts, 'host')} failed`]),
    ...(tally.notReached === 0 ? [] : [unreached(tally)]),
  ];
  return parts.length === 0 ? null : `${parts.join(', ')}${namesOf(tally)}`;
}

function unreached({ failed, hosts, notReached }: SessionTally): string {
  const among = failed === 0 ? ` of ${plural(hosts, 'host')}` : '';
  return `${notReached}${among} ${notReached === 1 ? 'was' : 'were'} not reached`;
}

function namesOf({ failed, failedNames }: SessionTally): string {
  if (failedNames.length === 0) return '';
  const more = failed - failedNames.length;
  return ` (${failedNames.join(', ')}${more > 0 ? ` and ${more} more` : ''})`;
}

function hasLostResults({ exitCode, hosts, brokeOff }: LayerOutcome): boolean {
  return exitCode === RESULTS_LOST && (hosts === 0 || brokeOff === true);
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
  const done = `${plural(layers.length, 'layer')} done`;
  // Ansible's exit status says success, and a host failed all the same: a play cleared its error.
  const who = last.tally === undefined ? null : whoFailed(last);
  if (who !== null) return { succeeded: 'true', message: `${done}, ${who}`, reason: null };
  const hosts = Math.max(...layers.map((layer) => layer.hosts));
  return { succeeded: 'true', message: `${done} on ${plural(hosts, 'host')}`, reason: null };
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
