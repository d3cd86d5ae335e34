/** Shell actions at targets: how they are logged in for, what became of them there, and that nothing of them is left. */
import { setTimeout as delay } from 'node:timers/promises';
import { type ActionTarget, findTarget } from '../../control/propagation/find-target.ts';
import { readInputs } from '../../control/propagation/read-action.ts';
import { isMusterError } from '../../domain/errors.ts';
import { componentTree, nodeTree } from '../../domain/propagation/action-login.ts';
import type { TargetAnswer, TargetShells } from '../../domain/propagation/ports.ts';
import {
  checksHostKeys,
  endWords,
  type ShellHost,
  shellHost,
  targetFolder,
} from '../../domain/propagation/remote-shell.ts';
import { TARGET_BEGUN, TARGET_END, type TargetEnd, targetEndOf } from '../../domain/propagation/target-end-schema.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import type { SiteValues } from '../../domain/sessions/ports.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import type { AttemptRow, PlanNodeRow } from '../../store/propagation/plan-tables.ts';
import { readLastEvents } from '../../store/runs/event-reads.ts';
import { type LoginDependencies, usesIdentity, writeLogin } from './write-login.ts';

export interface TargetShellDependencies extends LoginDependencies {
  db: Db;
  secrets: Pick<SecretStore, 'get'>;
  site: Pick<SiteValues, 'ssh' | 'ansibleConfig'>;
  shells: TargetShells;
  /** Whether actions may run on the machine of the worker. */
  allowsLocal: boolean;
  /** How often a target is asked to end an action while it does not answer, and the pause between, ms. */
  endTries?: { count: number; pauseMs: number };
}

export type RemoteTarget = Exclude<ActionTarget, { kind: 'local' }>;

/** A target that restarts its network, or its sshd, is back by then. */
const END_TRIES = { count: 6, pauseMs: 5_000 };

/** Writes what ssh needs for a target, and returns how it is reached. Throws `validation_failed`, `not_supported`. */
export async function openShellHost(
  deps: TargetShellDependencies,
  target: RemoteTarget,
  runId: string,
): Promise<ShellHost> {
  const { db, logins, site, trust, allowsLocal } = deps;
  await logins.make(runId);
  await writeLogin(deps, target, runId);
  const paths = logins.paths(runId);
  const identity = [paths.sshKey, ...(trust.hasOwnKey ? [paths.plainKey] : [])];
  const keys = usesIdentity(target) ? identity : [paths.ownKey];
  const rules = { allowLocalConnection: allowsLocal };
  if (target.kind === 'node') {
    const tree = nodeTree(target.address, target.transport, paths.knownHosts, rules);
    return shellHost(tree, { keys, knownHosts: paths.knownHosts, checksHosts: true });
  }
  const config = await site.ansibleConfig((await readOptions(db)).default_ansible_config);
  return shellHost(componentTree(target.component, rules), {
    ...{ keys, knownHosts: null, checksHosts: checksHostKeys(config) },
  });
}

/** Returns how an action ended at its target; null where nothing was noted. */
export async function readTargetEnd(db: Db, runId: string): Promise<TargetEnd | null> {
  const [event] = await readLastEvents(db, runId, { type: TARGET_END }, 1);
  return event === undefined ? null : targetEndOf(event.data);
}

/** Whether an action was about to begin at its target. Before that nothing has happened there. */
export async function hasBegunAtTarget(db: Db, runId: string): Promise<boolean> {
  return (await readLastEvents(db, runId, { type: TARGET_BEGUN }, 1)).length > 0;
}

/**
 * Ends an action at its target, over a connection of its own. Returns whether all of it was seen to be gone: not where the target cannot be
 * asked, for want of an answer or because its transport is no longer there. A run that has an end has noted whether its action began; a run
 * that was lost may have lost its notes as well.
 */
export async function endAtTarget(
  deps: TargetShellDependencies,
  attempt: AttemptRow,
  node: PlanNodeRow,
  run: { id: string; exitCode: number | null },
  signal: AbortSignal,
): Promise<boolean> {
  if (run.exitCode !== null && !(await hasBegunAtTarget(deps.db, run.id))) return true;
  const { count, pauseMs } = deps.endTries ?? END_TRIES;
  for (let tries = 1; ; tries += 1) {
    const answer = await askForEnd(deps, attempt, node, run.id);
    if (answer.isReached) return answer.isGone;
    if (tries === count) return false;
    await delay(pauseMs, undefined, { signal });
  }
}

async function askForEnd(
  deps: TargetShellDependencies,
  attempt: AttemptRow,
  node: PlanNodeRow,
  runId: string,
): Promise<TargetAnswer> {
  try {
    const target = await findTarget(deps, node, await readInputs(deps.db, node));
    if (target.kind === 'local') throw new Error(`node ${node.id} is at no target`);
    const host = await openShellHost(deps, target, runId);
    return await deps.shells.end({ ssh: endWords(host), attempt: attempt.id, folder: targetFolder(attempt.id) });
  } catch (error) {
    if (!isMusterError(error)) throw error;
    return { isReached: false, isGone: false, why: error.detail };
  } finally {
    await deps.logins.remove(runId);
  }
}
