import { musterError } from '../errors.ts';
import { withImages } from './images/image-names.ts';
import type { RetryHosts, Snapshot, Target } from './schema.ts';

/** One run of a layer, as far as a retry asks. */
export interface LayerRun {
  layer: number;
  attempt: number;
  state: string;
  exit_code: number | null;
}

export interface RetryInput {
  name: string;
  snapshot: Snapshot;
  configurationLimit: string;
  ansibleLimit: string | null;
  /** Whether the limit is hosts by their names, and no pattern. */
  limitOfHosts: boolean;
  target: Target;
  runs: LayerRun[];
  /** Whether one run, recorded for the first layer, was all layers: of a pod that runs them by itself. */
  isOneRun: boolean;
  /** Hosts that a layer was not applied to, with the first such layer. */
  notApplied: { host: string; layer: number }[];
  /** Images of the target that were to become new ones and did not; of no importance for another target. */
  imagesNotMade: readonly string[];
  hosts: RetryHosts;
}

export interface RetryPlan {
  snapshot: Snapshot;
  configurationLimit: string;
  ansibleLimit: string | null;
  /** Whether the limit is hosts by their names, and no pattern. */
  limitOfHosts: boolean;
  target: Target;
}

/** Names that a limit can mean exactly: nothing of Ansible's patterns in them. */
const PLAIN_HOST = /^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/;

/** Index of the first layer that did not end with exit status 0 in its latest attempt; null when all did. */
function firstUnfinished({ snapshot, runs, isOneRun }: RetryInput): number | null {
  for (const { index } of isOneRun ? snapshot.layers.slice(0, 1) : snapshot.layers) {
    const latest = runs.filter((run) => run.layer === index).sort((a, b) => b.attempt - a.attempt)[0];
    if (latest === undefined || latest.state !== 'ended' || latest.exit_code !== 0) return index;
  }
  return null;
}

function limitTo(hosts: string[]): string {
  for (const host of hosts) {
    if (!PLAIN_HOST.test(host)) {
      throw musterError('bad_request', `Host ${host} cannot be named in a limit; retry with hosts all`, 'hosts');
    }
  }
  return hosts.join(',');
}

/**
 * What the retry of a complete session runs: layers and commits of its snapshot from the failed layer on. For `failed` the
 * first layer that one of these hosts lacks, limited to them; for `all` the first layer that did not end well, or, when
 * all did, every layer again. Images always get every layer, since what was done in them went with their jobs; for `failed` the target
 * keeps those alone that did not become new ones. Throws `nothing_failed` (failed only), `no_layer_selected` for a snapshot without layers.
 */
export function planRetry(input: RetryInput): RetryPlan {
  const { snapshot, hosts, notApplied } = input;
  if (snapshot.layers.length === 0 && snapshot.debug_playbook === null) {
    throw musterError('no_layer_selected', `Session ${input.name} selects no layer, there is nothing to run again`);
  }
  if (input.target.definition === 'image') return planImageRetry(input);
  if (hosts === 'failed' && notApplied.length === 0) {
    throw musterError('nothing_failed', `No host of session ${input.name} failed`);
  }
  const from = hosts === 'failed' ? Math.min(...notApplied.map(({ layer }) => layer)) : firstUnfinished(input);
  const layers = from === null ? snapshot.layers : snapshot.layers.filter(({ index }) => index >= from);
  return {
    snapshot: { ...snapshot, layers },
    configurationLimit:
      layers.length === snapshot.layers.length ? input.configurationLimit : layers.map(({ index }) => index).join(','),
    ansibleLimit: hosts === 'failed' ? limitTo(notApplied.map(({ host }) => host)) : input.ansibleLimit,
    limitOfHosts: hosts === 'failed' || input.limitOfHosts,
    target: input.target,
  };
}

function planImageRetry({
  name,
  snapshot,
  configurationLimit,
  ansibleLimit,
  limitOfHosts,
  target,
  ...input
}: RetryInput): RetryPlan {
  const again = { snapshot, configurationLimit, ansibleLimit, limitOfHosts };
  if (input.hosts === 'all') return { ...again, target };
  if (input.imagesNotMade.length === 0) {
    throw musterError('nothing_failed', `Of session ${name} every image that was to become a new one did`);
  }
  return { ...again, target: withImages(target, input.imagesNotMade) };
}
