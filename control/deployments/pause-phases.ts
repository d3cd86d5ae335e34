/** How this lane rests when everything is stopped: phases at work go on, no new phase begins. */
import type { StopCounts, WantedStop } from '../../domain/lane-stop.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  countUnbegun,
  listUnbegun,
  pauseUnlessPaused,
  resumeIfPausedAt,
} from '../../store/deployments/wanted-contexts.ts';
import type { Tell } from '../temporal/tell.ts';
import { wantedContext } from './tell-context.ts';

/** AppContexts of which Temporal is told at once when new phases may begin; the sweep tells it of the others. */
const MOST = 500;

/** Keeps new phases from beginning. Returns how many AppContexts wait for that. */
export async function pausePhases(db: Db, { at }: Pick<WantedStop, 'at'>): Promise<StopCounts> {
  await pauseUnlessPaused(db, at);
  return { deployments: await countUnbegun(db) };
}

/** Lets phases begin that were kept from it since one of these moments. Returns how many AppContexts have waited for that. */
export async function resumePhases(
  { db, tell }: { db: Db; tell: Tell },
  moments: readonly Date[],
): Promise<StopCounts> {
  if (!(await resumeIfPausedAt(db, moments))) return { deployments: 0 };
  const deployments = await countUnbegun(db);
  await tell((await listUnbegun(db, MOST)).map(wantedContext));
  return { deployments };
}
