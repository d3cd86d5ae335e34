import { firstInLine } from '../../store/image-turns.ts';
import type { ImageRunDependencies } from './run-image-job.ts';

/** Who is in front may be one that may not begin; so many more than have room are told. */
const SOME_MORE = 2;

/**
 * Tells those who are first in line for a machine that a turn may be free. They ask by themselves too, some seconds later, so nothing is
 * lost where the engine does not hear.
 */
export async function wakeNextInLine(deps: ImageRunDependencies, queue: string): Promise<void> {
  const { db, clock, imageLimits, imageEngine } = deps;
  const ids = await firstInLine(db, queue, clock(), imageLimits.working + SOME_MORE);
  await Promise.all(ids.map((id) => imageEngine.wake(id).catch(() => undefined)));
}
