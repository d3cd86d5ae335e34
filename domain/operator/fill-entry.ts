import { secondsOf } from './duration.ts';
import { type KindSettings, kindSettings } from './kind-settings.ts';
import { absolutePath } from './paths.ts';
import type { HomeFiles } from './ports.ts';
import { type RoleSurroundings, roleCandidates } from './role-candidates.ts';
import {
  DEFAULT_BACKOFF,
  type EntryInFile,
  type MusterKeys,
  type Resync,
  type Script,
  type WatchEntry,
} from './watch-entry.ts';
import type { Say } from './watch-errors.ts';

/** Values of entries that say nothing. */
export interface WatchDefaults extends KindSettings {
  markUnsafe: boolean;
  resyncOnStart: Resync;
}

export interface EntrySurroundings extends RoleSurroundings {
  files: HomeFiles;
  defaults: WatchDefaults;
}

const DEFAULT_ARTIFACTS = 20;

/** Returns the entry with its defaults, playbooks and roles as absolute paths; says what is doubtful in it. */
export function fillEntry(inFile: EntryInFile, source: EntrySurroundings, say: Say): WatchEntry {
  const { defaults } = source;
  const gvk = { group: inFile.group ?? '', version: inFile.version ?? '', kind: inFile.kind ?? '' };
  const { settings, unusable } = kindSettings(gvk, source.env, defaults);
  for (const { variable, value, allowed } of unusable) {
    const message = `${variable}: ${JSON.stringify(value.slice(0, 40))} is not ${allowed}; the default counts`;
    say({ code: 'unusable_setting', field: null, message, fix: `set it to ${allowed}, or unset it` });
  }
  const unsafe = inFile.markUnsafe ?? defaults.markUnsafe;
  if (!unsafe) {
    say({
      code: 'text_is_templated',
      field: 'markUnsafe',
      message:
        'markUnsafe is false: Ansible evaluates templates in the text of resources, so their authors run code here',
      fix: 'set markUnsafe: true unless the playbook needs templates of resources',
    });
  }
  const period = inFile.reconcilePeriod === undefined ? 0 : secondsOf(inFile.reconcilePeriod);
  const { finalizer, selector } = inFile;
  return {
    ...gvk,
    ...scriptOf(inFile, source),
    vars: inFile.vars ?? {},
    max_runner_artifacts: inFile.maxRunnerArtifacts || DEFAULT_ARTIFACTS,
    reconcile_period_seconds: period === 0 ? null : period,
    manage_status: inFile.manageStatus ?? true,
    watch_dependent_resources: inFile.watchDependentResources ?? true,
    watch_cluster_scoped_resources: inFile.watchClusterScopedResources ?? false,
    watch_annotations_changes: inFile.watchAnnotationsChanges ?? false,
    snake_case_parameters: inFile.snakeCaseParameters ?? true,
    mark_unsafe: unsafe,
    blacklist: (inFile.blacklist ?? []).map(({ group = '', version = '', kind = '' }) => ({ group, version, kind })),
    finalizer: finalizer
      ? { name: finalizer.name ?? '', ...scriptOf(finalizer, source), vars: finalizer.vars ?? {} }
      : null,
    selector: selector
      ? {
          matchLabels: selector.matchLabels ?? {},
          matchExpressions: (selector.matchExpressions ?? []).map((expression) => ({
            key: expression.key ?? '',
            operator: expression.operator ?? '',
            values: expression.values ?? [],
          })),
        }
      : null,
    max_concurrent_reconciles: settings.maxConcurrentReconciles,
    verbosity: settings.verbosity,
    muster: musterOf(inFile.muster ?? {}, defaults.resyncOnStart),
  };
}

function scriptOf({ playbook, role }: { playbook?: string; role?: string }, source: EntrySurroundings): Script {
  if (playbook) return { playbook: absolutePath(source.home, playbook), role: null };
  if (!role) return { playbook: null, role: null };
  return { playbook: null, role: roleCandidates(role, source).find((path) => source.files.exists(path)) ?? role };
}

function musterOf(keys: NonNullable<EntryInFile['muster']>, resync: Resync): MusterKeys {
  return {
    run_timeout: keys.run_timeout ?? null,
    backoff: { ...DEFAULT_BACKOFF, ...keys.backoff },
    on_delete: keys.on_delete === 'cancel' ? 'cancel' : 'finish',
    resync_on_start:
      keys.resync_on_start === 'stale' || keys.resync_on_start === 'always' ? keys.resync_on_start : resync,
    observed_generation: keys.observed_generation ?? false,
  };
}
