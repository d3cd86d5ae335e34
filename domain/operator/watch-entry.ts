/** An entry of a `watches.yaml`: its keys in the file, and the entry with all defaults filled in. */
import { decimal, durationText, flag, labelText, listOf, mapOf, members, text, variables, whole } from './forms.ts';
import type { Gvk } from './names.ts';
import type { Selector } from './selector.ts';

export const ON_DELETE = ['finish', 'cancel'] as const;
export const RESYNCS = ['stale', 'always'] as const;
export type Resync = (typeof RESYNCS)[number];

export interface Backoff {
  /** Durations are text in the grammar of Go. */
  initial: string;
  factor: number;
  max: string;
}

export const DEFAULT_BACKOFF: Backoff = { initial: '1s', factor: 2, max: '1000s' };

/** Keys of Muster's own. */
export interface MusterKeys {
  run_timeout: string | null;
  backoff: Backoff;
  on_delete: (typeof ON_DELETE)[number];
  resync_on_start: Resync;
  observed_generation: boolean;
}

/** Playbook or role; both null where neither is given. Playbook is an absolute path. */
export interface Script {
  playbook: string | null;
  /** Absolute path; as written in the file where no role was found. Null when there is a playbook. */
  role: string | null;
}

export interface Finalizer extends Script {
  name: string;
  vars: Record<string, unknown>;
}

export interface WatchEntry extends Gvk, Script {
  vars: Record<string, unknown>;
  max_runner_artifacts: number;
  /** Null: the period of the flags counts. Negative: no timer. */
  reconcile_period_seconds: number | null;
  manage_status: boolean;
  watch_dependent_resources: boolean;
  watch_cluster_scoped_resources: boolean;
  watch_annotations_changes: boolean;
  snake_case_parameters: boolean;
  mark_unsafe: boolean;
  blacklist: Gvk[];
  finalizer: Finalizer | null;
  selector: Selector | null;
  max_concurrent_reconciles: number;
  verbosity: number;
  muster: MusterKeys;
}

const expression = members({ key: text, operator: text, values: listOf(labelText) });
const backoff = members({ initial: durationText, factor: decimal, max: durationText }, { prefix: 'backoff.' });

/** The keys of an entry in the file, each with its form. */
const KEYS = {
  group: text,
  version: text,
  kind: text,
  playbook: text,
  role: text,
  vars: variables,
  maxRunnerArtifacts: whole,
  reconcilePeriod: durationText,
  manageStatus: flag,
  watchDependentResources: flag,
  watchClusterScopedResources: flag,
  watchAnnotationsChanges: flag,
  snakeCaseParameters: flag,
  markUnsafe: flag,
  blacklist: listOf(members({ group: text, version: text, kind: text })),
  finalizer: members({ name: text, playbook: text, role: text, vars: variables }),
  selector: members({ matchLabels: mapOf(labelText), matchExpressions: listOf(expression) }),
  muster: members(
    { run_timeout: durationText, backoff, on_delete: text, resync_on_start: text, observed_generation: flag },
    { prefix: '' },
  ),
};

/** Reads an entry of the file; keys that are missing or have a mistake are undefined. */
export const entryInFile = members(KEYS);
export type EntryInFile = NonNullable<ReturnType<typeof entryInFile>>;
