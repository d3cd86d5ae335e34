import { messageOf } from '../../domain/text/message-of.ts';
import type { Db } from '../../store/connection/database.ts';
import { endedSessions } from '../../store/sessions/sweep.ts';

export interface CleanWorkspacesDependencies {
  db: Db;
  workspaces: { list(): Promise<string[]>; remove(sessionId: string): Promise<void> };
}

/** Removes this machine's workspaces of sessions that have ended. Returns how many, and what could not be done, for people. */
export async function cleanWorkspaces({
  db,
  workspaces,
}: CleanWorkspacesDependencies): Promise<{ removed: number; problems: string[] }> {
  const problems: string[] = [];
  let removed = 0;
  for (const sessionId of await endedSessions(db, await workspaces.list())) {
    try {
      await workspaces.remove(sessionId);
      removed += 1;
    } catch (error) {
      problems.push(`workspace ${sessionId}: ${messageOf(error)}`);
    }
  }
  return { removed, problems };
}
