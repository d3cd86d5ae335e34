/** What the command of an operator says: flags, file, name. Everything that is wrong is told before anything is opened. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { operatorEnvironment } from '../../domain/operator/environment.ts';
import { type LoadedWatches, loadWatches } from '../../domain/operator/load-watches.ts';
import { operatorName } from '../../domain/operator/operator-name.ts';
import { type FlagValues, readFlags } from '../../domain/operator/read-flags.ts';
import type { WatchEntry } from '../../domain/operator/watch-entry.ts';
import { unreadableFile, type WatchFinding } from '../../domain/operator/watch-errors.ts';
import { homeFiles, parseYaml } from '../../drivers/operator-home/read-home.ts';

/** A start that is refused. */
export class StartRefused extends Error {
  override name = 'StartRefused';
  readonly exit: number;

  constructor(lines: readonly string[], exit: number) {
    super(lines.join('\n'));
    this.exit = exit;
  }
}

export interface OperatorStart {
  name: string;
  /** The folder in which the operator was started. */
  home: string;
  flags: FlagValues;
  entries: WatchEntry[];
  warnings: WatchFinding[];
  /** Namespaces that are watched; null: all. */
  namespaces: string[] | null;
  /** The environment of runs, before it is narrowed. */
  environment: Record<string, string | undefined>;
  /** Runs of this process at once. */
  slots: number;
  /** Whether the whole output of each run goes to the log. */
  logsOutput: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns how the operator starts. Throws `StartRefused` with all mistakes. */
export async function readStart(args: readonly string[], env: Environment, home: string): Promise<OperatorStart> {
  const { flags, mistakes } = readFlags(args);
  if (mistakes.length > 0) {
    const exit = Math.max(...mistakes.map((mistake) => mistake.exit));
    throw new StartRefused(
      mistakes.map(({ code, message }) => `error: ${code}: ${message}`),
      exit,
    );
  }
  const { environment: own, mistakes: wrong } = operatorEnvironment(env);
  if (wrong.length > 0)
    throw new StartRefused(
      wrong.map((line) => `error: usage: ${line}`),
      2,
    );
  const named = operatorName({
    flag: flags['operator-name'],
    electionId: flags['leader-election-id'],
    variable: own.operatorName,
    homeDigest: createHash('sha256').update(home).digest('hex'),
    podNamespace: await podNamespace(env),
  });
  if ('mistake' in named) throw new StartRefused([`error: usage: ${named.mistake}`], 2);
  const environment = withPaths(env, flags);
  const loaded = await load(flags, environment, home);
  if (loaded.errors.length > 0) throw new StartRefused(loaded.errors.map(errorLine), 1);
  const cores = availableParallelism();
  const highest = Math.max(cores, ...loaded.entries.map((entry) => entry.max_concurrent_reconciles));
  return {
    name: named.name,
    home,
    flags,
    entries: loaded.entries,
    warnings: loaded.warnings,
    namespaces: own.namespaces,
    environment,
    slots: flags['max-concurrent-runs'] ?? highest,
    logsOutput: own.debugLogs,
  };
}

async function load(flags: FlagValues, env: Environment, home: string): Promise<LoadedWatches> {
  let text: string;
  try {
    text = await readFile(resolve(home, flags['watches-file']), 'utf8');
  } catch (error) {
    return { entries: [], errors: [unreadableFile((error as Error).message)], warnings: [] };
  }
  return loadWatches({
    text,
    home,
    env,
    files: homeFiles,
    parseYaml,
    defaults: {
      maxConcurrentReconciles: flags['max-concurrent-reconciles'] ?? availableParallelism(),
      verbosity: flags['ansible-verbosity'],
      markUnsafe: flags['mark-unsafe'],
      resyncOnStart: flags['resync-on-start'] === 'always' ? 'always' : 'stale',
    },
  });
}

/** The two paths that have flags reach Ansible as variables. */
function withPaths(env: Environment, flags: FlagValues): Record<string, string | undefined> {
  const roles = flags['ansible-roles-path'];
  const collections = flags['ansible-collections-path'];
  return {
    ...env,
    ...(roles === '' ? {} : { ANSIBLE_ROLES_PATH: roles }),
    ...(collections === '' ? {} : { ANSIBLE_COLLECTIONS_PATH: collections }),
  };
}

const POD_NAMESPACE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

async function podNamespace(env: Environment): Promise<string | null> {
  if (env.KUBERNETES_SERVICE_HOST === undefined) return null;
  return readFile(POD_NAMESPACE, 'utf8').then(
    (text) => text.trim(),
    () => null,
  );
}

/** `entry 2, playbook: W7: ...`, and how to mend it. */
export function errorLine({ code, entry, field, message, fix }: WatchFinding): string {
  const place = entry === null ? '' : `entry ${entry}${field === null ? '' : `, ${field}`}: `;
  return `error: ${place}${code}: ${message}\n  ${fix}`;
}
