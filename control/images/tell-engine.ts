import type { ImageDependencies, ImageEngine } from './ports.ts';

/** Tells the engine about a job that is recorded; when it does not hear, the sweep tells it within two minutes. */
export async function tellEngine(
  { imageEngine, log }: Pick<ImageDependencies, 'imageEngine' | 'log'>,
  word: keyof ImageEngine,
  jobId: string,
): Promise<void> {
  try {
    await imageEngine[word](jobId);
  } catch (error) {
    log.warn({ imageJob: jobId, word, err: String(error) }, 'the engine was not told of an image job; the sweep will');
  }
}

/** Jobs of which the engine is told at once, and how long it is told of further ones, ms: somebody waits for the answer. */
const AT_ONCE = 16;
const ALL_MS = 2_000;

/** The same about many jobs, within some seconds however many they are: the sweep does the rest. */
export async function tellEngineOfAll(
  deps: Pick<ImageDependencies, 'imageEngine' | 'log'>,
  word: keyof ImageEngine,
  jobIds: readonly string[],
): Promise<void> {
  const until = performance.now() + ALL_MS;
  const left = [...jobIds];
  const tellNext = async () => {
    while (performance.now() < until) {
      const jobId = left.pop();
      if (jobId === undefined) return;
      await tellEngine(deps, word, jobId);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, tellNext));
  if (left.length > 0) {
    deps.log.warn({ untold: left.length, word }, 'the engine is slow: the sweep tells it of the other image jobs');
  }
}
