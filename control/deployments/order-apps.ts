/** Holds an app back until the apps that it waits for have ended well, and has those look again that wait for it. */
import { standingOf, waitsIn } from '../../domain/deployments/app-standing.ts';
import { allBefore, reversed } from '../../domain/deployments/dependencies.ts';
import { clusterName } from '../../domain/deployments/naming.ts';
import type { RetryRule } from '../../domain/deployments/retry.ts';
import {
  type GroupResource,
  listAppStatuses,
  listClustersOfApps,
  noteOpen,
  type PhaseGroup,
} from '../../store/deployments/context-resources.ts';
import { type ContextRow, findContext } from '../../store/deployments/contexts.ts';
import type { GroupAnswer, GroupDependencies } from './group-work.ts';
import type { Waiting } from './wake-waiting.ts';

/** Longest time until a group looks again that heard nothing of the apps before it, ms. */
const LOOK_MS = 20_000;

/**
 * Returns null where a group may begin; else that it waits, or that it has ended since an app before it failed. Its resources say so: they stay
 * Pending. `open`: apps that are not done.
 */
export async function holdBack(
  deps: Pick<GroupDependencies, 'db' | 'clock'>,
  { settings }: ContextRow,
  group: PhaseGroup,
  rule: RetryRule,
  open: readonly GroupResource[],
): Promise<GroupAnswer | null> {
  const waits = waitsIn(group.phase, settings.waits);
  const before = allBefore(group.app, waits);
  if (before.length === 0) return null;
  const statuses = await listAppStatuses(deps.db, group.context, before);
  const standing = standingOf(group.phase, group.app, waits, statuses);
  if (standing.is === 'ready') return null;
  const { message } = standing;
  const noted = {
    status: 'Pending',
    reason: standing.is === 'failed' ? 'DependencyFailed' : 'Waiting',
    message,
  } as const;
  if (!open.every((resource) => isNoted(resource, noted))) await noteOpen(deps.db, group, noted, deps.clock());
  if (standing.is === 'failed') return { is: 'ended' };
  const waitMs = Math.min(LOOK_MS, rule.maxSeconds * 1000);
  return { is: 'away', waitMs, reason: 'Waiting', message, hasMoved: false, counts: false };
}

function isNoted(
  { status, reason, message }: GroupResource,
  noted: { status: string; reason: string; message: string },
): boolean {
  return status === noted.status && reason === noted.reason && message === noted.message;
}

export interface EndDependencies extends Pick<GroupDependencies, 'db'> {
  /** Has work look again. Never rejects; a word that is lost costs time alone. */
  wake(waiting: readonly Waiting[]): Promise<void>;
}

/** Has the apps look again that may begin, or have failed, since a group has ended. */
export async function wakeBehind(
  { db, wake }: EndDependencies,
  { context, phase, app }: Pick<PhaseGroup, 'context' | 'phase' | 'app'>,
): Promise<void> {
  const row = await findContext(db, context);
  if (row === null || row.wanted !== phase || row.settings.waits === undefined) return;
  const waits = waitsIn(phase, row.settings.waits);
  const behind = allBefore(app, reversed(waits));
  if (behind.length === 0) return;
  const before = new Set(behind.flatMap((name) => allBefore(name, waits)));
  const statuses = await listAppStatuses(db, context, [...before]);
  const moved = behind.filter((name) => standingOf(phase, name, waits, statuses).is !== 'waiting');
  const clusters = await listClustersOfApps(db, context, moved);
  await wake(clusters.map((cluster) => ({ context, phase, cluster: clusterName(cluster) })));
}
